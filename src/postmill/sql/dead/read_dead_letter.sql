select d.id, d.tenant_id, d.job_type, d.queue, d.reason, d.error_class, d.error_code, d.error_message, d.error_status,
       d.attempts, d.failed_at, d.last_attempt_at, d.stack, d.payload::text
  from {schema}.read_dead_letter($1::uuid) d
