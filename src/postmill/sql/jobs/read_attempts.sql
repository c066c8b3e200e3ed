-- Every execution of one job within the scope.
select a.run, a.attempt, a.status, a.worker_id, a.pid, a.started_at, a.finished_at, a.exit_code, a.error_class, a.error_code,
       a.error_message, a.error_status, a.stack, a.stdout_tail, a.stderr_tail, a.build
  from {schema}.read_attempts($1::uuid) a
