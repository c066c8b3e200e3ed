-- The hours of the minutes that were written.
insert into {schema}.rollup_hour (hour, tenant_id, queue, job_type, outcome, n, wait_sum, run_sum, total_sum, wait_hist, run_hist, total_hist)
select date_bin('1 hour', r.minute, timestamptz '2000-01-01 00:00+00'), r.tenant_id, r.queue, r.job_type, r.outcome, sum(r.n),
       sum(r.wait_sum), sum(r.run_sum), sum(r.total_sum), {schema}.histogram_sum(r.wait_hist), {schema}.histogram_sum(r.run_hist),
       {schema}.histogram_sum(r.total_hist)
  from (select * from {schema}.rollup union all
        select f.minute, null, f.queue, f.job_type, f.outcome, f.n, f.wait_sum, f.run_sum, f.total_sum, f.wait_hist, f.run_hist,
               f.total_hist from {schema}.rollup_fleet f) r
 group by 1, 2, 3, 4, 5
