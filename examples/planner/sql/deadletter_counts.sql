select queue, job_type, count(*) as letters from planner.deadletter group by 1, 2 order by 2
