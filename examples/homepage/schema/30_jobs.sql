-- Jobs in the words of their design: those that wait or run, and those that were given up. `attempts` is the number of the
-- attempt that runs or comes next, from 1; locked_at and locked_by are there while somebody runs it.
create or replace view delayed_jobs as
select j.id, j.queue, j.job_type, j.priority, j.payload, j.scheduled_for as scheduled_at,
       case when j.status = 'running' then j.started_at end as locked_at,
       case when j.status = 'running' then coalesce(w.hostname, j.claimed_by_worker) end as locked_by,
       case when j.status = 'running' then j.attempt_count else j.attempt_count + 1 end as attempts,
       j.max_attempts, j.last_error, j.queued_at as created_at
  -- From where jobs are now, so that the many that have ended cost nothing.
  from (select id from postmill.ready
        union all select id from postmill.scheduled
        union all select id from postmill.blocked
        union all select id from postmill.running) live
 cross join lateral (select * from postmill.jobs j where j.id = live.id offset 0) j
  left join postmill.job_workers w on w.worker_id = j.claimed_by_worker
 where j.job_type !~ '^postmill\.';

create or replace view delayed_jobs_dlq as
select j.id, j.queue, j.job_type, j.priority, j.payload, j.scheduled_for as scheduled_at, null::timestamptz as locked_at,
       null::text as locked_by, d.attempts, j.max_attempts, d.error_message as last_error, j.queued_at as created_at,
       d.reason, d.failed_at
  from postmill.dead_letter d
 cross join lateral (select * from postmill.jobs j where j.id = d.id offset 0) j
 where j.job_type !~ '^postmill\.';
