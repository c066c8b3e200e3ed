-- Of one organization.
select count(*) from postmill.jobs where tenant_id = %(org)s and status in ('queued', 'running')
