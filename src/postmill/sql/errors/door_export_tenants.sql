select t.tenant_id, t.slug, t.name, t.first_seen_at, t.last_seen_at, t.count, t.dead, t.sample_job
  from {schema}.door_export_tenants($1::text) t
