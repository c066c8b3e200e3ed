-- Of the jobs since then that made an embedding: from the request to the embedding, in milliseconds.
select coalesce(percentile_cont(0.5) within group (order by took), 0) as p50,
       coalesce(percentile_cont(0.95) within group (order by took), 0) as p95
  from (select extract(epoch from finished_at - queued_at)::float8 * 1000 as took
          from postmill.jobs
         where job_type = 'generate-embedding' and status = 'succeeded' and queued_at >= %(since)s) t
