select m.actor_id, m.tenant_id, m.role, m.since, m.last_seen_at, m.logins, m.kind, m.expires_at from {schema}.read_members($1::integer) m
