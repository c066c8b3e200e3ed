-- Where these jobs stand. JSON as text: drivers differ in what they make of jsonb.
select s.id, s.tenant_id, s.job_type, s.queue, s.state, s.priority, s.attempt, s.max_attempts, s.payload::text,
       s.created_at, s.scheduled_for, s.started_at, s.finished_at, s.project_id, s.idempotency_key, s.source,
       s.source_ref, s.actor_type, s.actor_id, s.request_id, s.correlation_id, s.traceparent, s.result::text, s.reason,
       s.error_class, s.error_code, s.error_message, s.replayed_from, s.replayed_as, s.worker_id, s.cancel_requested,
       s.progress_done, s.progress_total, s.progress_message, s.tags
  from {schema}.job_state($1::uuid[]) s
