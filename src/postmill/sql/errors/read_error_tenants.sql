select t.tenant_id, t.slug, t.first_seen_at, t.last_seen_at, t.count, t.sample_job
  from {schema}.read_error_tenants($1::text, $2::integer) t
