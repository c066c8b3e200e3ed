select k.id, k.prefix, k.name, k.tenant_id, k.role, k.created_at, k.created_by, k.expires_at, k.last_used_at, k.revoked_at,
       k.revoked_by
  from {schema}.read_keys($1::uuid, $2::integer, $3::uuid, $4::boolean) k
