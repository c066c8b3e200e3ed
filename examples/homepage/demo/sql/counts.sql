-- Jobs since the demo began, and older ones that are not over, by type, tenant and where they are now.
select j.job_type, j.queue, t.slug as tenant, j.status, count(*)::integer as jobs,
       count(*) filter (where j.attempt_count > 1)::integer as again
  from postmill.jobs j
  join postmill.tenant t on t.id = j.tenant_id
 where (j.queued_at >= %(since)s or j.status in ('queued', 'running'))
   and j.job_type !~ '^postmill\.'
 group by 1, 2, 3, 4
