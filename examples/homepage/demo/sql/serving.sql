-- Which of these processes serve as workers.
select w.metadata ->> 'pid' as pid
  from postmill.job_workers w
 where w.metadata ->> 'pid' = any (%(pids)s) and w.metadata ->> 'stopped_at' is null
