-- The key metrics of the design, of the last minutes. A retry ends an attempt; whatever else ends one ends the job.
select ended.n / %(minutes)s::float8 as throughput_per_minute,
       ended.succeeded / nullif(ended.n, 0) as success_rate,
       ended.retried / nullif(ended.n + ended.retried, 0) as retry_rate,
       (select count(*) from dlq_entry) as dlq_size,
       (select q.queued + q.scheduled from postmill.read_queues('embeddings') q) as queue_depth,
       s.runs[2] as p50, s.runs[3] as p95, s.runs[4] as p99
  from (select 1) always
  left join postmill.read_stats(postmill.now() - make_interval(mins => %(minutes)s), postmill.now() + interval '1 minute',
                                p_job_type => 'generate-embedding') s on true
 cross join lateral (
    select coalesce((s.counts ->> 'succeeded')::float8, 0) as succeeded, coalesce((s.counts ->> 'retried')::float8, 0) as retried,
           coalesce((s.counts ->> 'succeeded')::float8, 0) + coalesce((s.counts ->> 'dead_letter')::float8, 0) as n) ended
