-- One open dead letter, whole: with its stack and what it was to do.
select d.id, d.tenant_id, b.job_type, d.queue, d.reason, d.error_class, d.error_code, d.error_message, d.error_status,
       d.attempts, d.failed_at, d.last_attempt_at, d.stack, b.payload::text
  from {schema}.dead_letter d
  left join lateral (select j.job_type, j.payload from {schema}.any_job j where j.id = d.id offset 0) b on true
 where d.id = $1::uuid
