select k.tenant_id, k.project_id, k.key, k.job_type, k.job_id, k.mode, k.status, k.first_seen_at, k.last_seen_at, k.expires_at,
       k.result_ref, k.error_ref
  from {schema}.read_idempotency_keys($1::text, $2::text, $3::uuid, $4::uuid, $5::text, $6::integer) k
