-- How many jobs a process runs now.
select count(*)::integer as jobs
  from postmill.jobs j
  join postmill.job_workers w on w.worker_id = j.claimed_by_worker
 where j.status = 'running' and w.metadata ->> 'pid' = %(pid)s
