-- Attempts since the demo began that did not succeed, by what went wrong (up to the first colon, or the second where a service
-- is named first: what follows is of one attempt), and what became of their jobs.
select j.job_type,
       case when a.error_text like 'the lease of the worker session ended%%' then 'its worker went silent'
            else substring(coalesce(a.error_text, a.status) from '^(?:[a-z_]+: (?=http_|timeout|connection))?[^:]*') end as error,
       count(*)::integer as attempts,
       count(distinct a.job_id)::integer as jobs,
       count(distinct a.job_id) filter (where j.status = 'succeeded')::integer as recovered,
       count(distinct a.job_id) filter (where j.status = 'dead_letter')::integer as given_up
  from postmill.job_attempts a
  join postmill.jobs j on j.id = a.job_id
 where a.started_at >= %(since)s and a.status not in ('succeeded', 'running') and j.job_type !~ '^postmill\.'
 group by 1, 2
 order by 3 desc, 1, 2
