select t.id, t.slug, t.name, t.timezone, t.status, t.weight, t.max_running, t.retention_seconds, t.created_at, t.updated_at,
       t.raised_to, t.raised_until
  from {schema}.read_tenants($1::text, $2::integer, $3::uuid, $4::text) t
