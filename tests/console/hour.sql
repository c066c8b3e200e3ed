-- An hour of rollups before now, as the fleet's rounds write them: mailers busy all the time, billing failing of late.
with shape as (
    select date_trunc('minute', postmill.now()) - m * interval '1 minute' as minute, t.id as tenant_id, q.queue, q.job_type, q.outcome, q.n
      from generate_series(1, 60) m cross join postmill.tenant t
     cross join lateral (values
        ('mailers', 'SendEmail', 'enqueued', 40 + m % 7),
        ('mailers', 'SendEmail', 'succeeded', 39 + m % 7),
        ('billing', 'ChargeInvoice', 'enqueued', 12),
        ('billing', 'ChargeInvoice', 'succeeded', case when m > 18 then 12 else 3 end),
        ('billing', 'ChargeInvoice', 'dead_letter', case when m > 18 then 0 else 9 end),
        ('webhooks', 'DeliverWebhook', 'succeeded', 5 + m % 3)) q(queue, job_type, outcome, n)
     where t.slug in ('acme', 'globex', 'initech') and q.n > 0)
, own as (
    insert into postmill.rollup (minute, tenant_id, queue, job_type, outcome, n, wait_sum, run_sum, total_sum)
    select minute, tenant_id, queue, job_type, outcome, n, n * 0.2, n * 1.1, n * 1.3 from shape on conflict do nothing)
insert into postmill.rollup_fleet (minute, queue, job_type, outcome, n, wait_sum, run_sum, total_sum)
select minute, queue, job_type, outcome, sum(n), sum(n) * 0.2, sum(n) * 1.1, sum(n) * 1.3
  from shape group by 1, 2, 3, 4 on conflict do nothing
