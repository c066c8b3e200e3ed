-- One page of jobs within the scope; every row's last column says where the next page begins.
select j.id, j.tenant_id, j.job_type, j.queue, j.status, j.source, j.source_ref, j.priority, j.attempt_count, j.max_attempts,
       j.idempotency_key, j.correlation_id, j.created_at, j.scheduled_for, j.started_at, j.finished_at, j.worker_id, j.reason,
       j.error_class, j.error_message, j.actor_type, j.actor_id, j.project_id, j.replayed_from, j.go_on
  from {schema}.read_jobs($1::text, $2::text, $3::text, $4::text, $5::uuid, $6::uuid, $7::timestamptz, $8::timestamptz,
                           $9::integer, $10::integer) j
