select t.tenant_id, t.slug, t.name, t.first_seen_at, t.last_seen_at, t.count, t.dead, t.sample_job,
       t.jobs, t.replayed, t.replays_succeeded, t.replays_failed
  from {schema}.door_export_tenants($1::text) t
