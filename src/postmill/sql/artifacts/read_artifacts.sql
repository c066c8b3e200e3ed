select id, tenant_id, job_id, name, content_type, size, encode(sha256, 'hex'), attempt, created_at, expires_at, expired
  from {schema}.read_artifacts($1::uuid, $2::text, $3::uuid, $4::integer)
