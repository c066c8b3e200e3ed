-- Counts a minute, as the fleet's rounds write them: a day of the fleet's, two hours of 40 tenants.
with clock as materialized (
    select {schema}.minute_of({schema}.now()) as now
), shape as materialized (
    select m, k, o.outcome, o.n, c.now - m * interval '1 minute' as minute,
           case when o.outcome = 'enqueued' then null else {schema}.histogram(1.0) end as hist
      from clock c, generate_series(0, 1439) m, generate_series(0, 19) k,
           (values ('enqueued', 40), ('succeeded', 38), ('failed', 2)) o(outcome, n)
), own as (
    insert into {schema}.rollup (minute, tenant_id, queue, job_type, outcome, n, wait_sum, run_sum, total_sum, wait_hist, run_hist, total_hist)
    select s.minute, md5('tenant ' || t)::uuid, 'queue-' || s.k % 10, 'type-' || s.k, s.outcome, 1, 0.2, 1, 1.2, s.hist, s.hist, s.hist
      from shape s, generate_series(0, 39) t where s.m < 120 and s.k % 4 = t % 4
), queues as (
    insert into {schema}.queue_minute (queue, minute, arrived, ended, failed, run_seconds, judged, late, queued, running, slots,
           wait_hist, run_hist)
    select 'queue-' || q, c.now - m * interval '1 minute', 80, 80, 4, 80, 80, m % 7, 500, 10, 20, {schema}.histogram(0.2),
           {schema}.histogram(1.0)
      from clock c, generate_series(0, 1439) m, generate_series(0, 9) q
)
insert into {schema}.rollup_fleet (minute, queue, job_type, outcome, n, wait_sum, run_sum, total_sum, wait_hist, run_hist, total_hist)
select minute, 'queue-' || k % 10, 'type-' || k, outcome, n, n * 0.2, n, n * 1.2, hist, hist, hist from shape
