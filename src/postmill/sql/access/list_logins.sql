select s.id, s.actor_id, s.tenant_id, s.role, s.created_at, s.last_seen_at, s.expires_at
  from {schema}.read_logins($1::uuid, $2::integer) s
