-- Of one organization: what was promised and what was kept, from due to finished.
select q.name, count(*), count(*) filter (where j.status = 'succeeded'), q.sla_seconds,
       percentile_cont(0.95) within group (order by extract(epoch from j.finished_at - greatest(j.queued_at, j.scheduled_for)))::float8
  from postmill.jobs j join postmill.queue q on q.name = j.queue
 where j.tenant_id = %(org)s and j.status in ('succeeded', 'dead_letter', 'failed')
 group by q.name, q.sla_seconds order by q.sla_seconds
