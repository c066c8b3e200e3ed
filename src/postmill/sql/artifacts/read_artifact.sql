select id, tenant_id, job_id, name, content_type, size, encode(sha256, 'hex'), attempt, created_at, expires_at, expired
  from {schema}.read_artifact($1::uuid)
