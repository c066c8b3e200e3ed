-- How long a job waited from its enqueue to the start of its handler, first attempts only; and how long an item waited.
select count(*) as started,
       coalesce(percentile_cont(0.5) within group (order by w.waited), 0)::float8 as p50,
       coalesce(percentile_cont(0.99) within group (order by w.waited), 0)::float8 as p99,
       coalesce(percentile_cont(0.5) within group (order by w.took), 0)::float8 as handler_p50,
       coalesce(percentile_cont(0.5) within group (order by w.age), 0)::float8 as item_p50,
       coalesce(max(w.age), 0)::float8 as item_max
  from (select extract(epoch from a.started_at - j.queued_at) as waited,
               extract(epoch from a.finished_at - a.started_at) as took,
               extract(epoch from i.enriched_at - i.captured_at) as age
          from items i
          join postmill.jobs j on j.id = i.job_id
          join postmill.job_attempts a on a.job_id = i.job_id and a.attempt_no = 1
         where i.capture_id = %(capture_id)s) w;
