select o.actor_id, o.tenant_id, o.role, o.expires_at from {schema}.open_login($1::bytea, $2::bytea, $3::float8, $4::text) o
