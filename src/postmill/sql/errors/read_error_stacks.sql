select s.job_id, s.tenant_id, s.attempt, s.finished_at, s.error_class, s.error_message, s.stack
  from {schema}.read_error_stacks($1::text, $2::uuid[]) s
