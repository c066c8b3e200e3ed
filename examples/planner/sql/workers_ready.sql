-- How many of these processes serve as workers by now.
select count(*) from postmill.job_workers w
 where w.metadata ->> 'pid' = any (%(pids)s) and w.metadata ->> 'stopped_at' is null;
