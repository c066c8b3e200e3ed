select a.run, a.attempt, a.status, a.worker_id, a.pid, a.started_at, a.finished_at, a.exit_code, a.error_class, a.error_code,
       a.error_message, a.error_status, a.error_group, a.stack, a.stdout_tail, a.stderr_tail, a.lengths, a.build
  from {schema}.read_attempt_page($1::uuid, $2::integer, $3::integer, $4::integer, $5::integer) a
