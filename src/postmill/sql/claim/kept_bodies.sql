select k.id, k.job_type, k.payload, k.tenant_id, k.max_attempts, k.timeout_seconds,
       k.expires_at <= (select {schema}.now()), k.created_at, k.project_id, k.actor_type, k.actor_id, k.request_id,
       k.correlation_id, k.traceparent, k.idempotency_key, k.scheduled_for, k.workflow_id
  from {schema}.job_kept k where k.id = any ($1::uuid[])
