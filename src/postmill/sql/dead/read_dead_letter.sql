select d.id, d.tenant_id, d.job_type, d.queue, d.reason, d.error_class, d.error_code, d.error_message, d.error_status,
       d.attempts, d.failed_at, d.last_attempt_at, d.error_group, d.shown_as, d.stack, d.payload::text, d.version, d.version_then
  from {schema}.read_dead_letter($1::uuid) d
