select f.id, f.actor_id, f.tenant_id, f.role, f.expires_at, f.tenant_status from {schema}.find_login($1::bytea) f
