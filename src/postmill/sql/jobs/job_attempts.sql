-- Every execution of one job, the running one too, in the words of the glossary (the view job_attempts has seed 3's).
select h.run, h.attempt, h.status, coalesce(w.worker_id, h.holder::text), coalesce(h.pid, w.pid), h.started_at,
       h.finished_at, h.exit_code, h.error_class, h.error_code, h.error_message, h.error_status, h.stack, h.stdout_tail,
       h.stderr_tail, w.build
  from (select a.run, a.attempt, a.status, a.holder, a.pid, a.started_at, a.finished_at, a.exit_code, a.error_class,
               a.error_code, a.error_message, a.error_status, a.stack, a.stdout_tail, a.stderr_tail
          from {schema}.attempt a where a.job_id = $1::uuid
        union all
        select o.run, o.attempt, o.attempt_status, o.holder, o.pid, o.started_at, o.finished_at, o.exit_code,
               o.error_class, o.error_code, o.error_message, o.error_status, o.stack, o.stdout_tail, o.stderr_tail
          from {schema}.outcome o where o.job_id = $1::uuid and o.holder is not null
        union all
        select r.run, r.attempt, 'running', r.holder, null, r.claimed_at, null, null, null, null, null, null, null,
               null, null
          from {schema}.running r where r.id = $1::uuid) h
  left join {schema}.worker w on w.holder = h.holder
 order by h.run
