select g.key, g.error_group, g.tenant_id, g.slug, g.job_type, g.reason, g.n, g.hour, g.day, g.week, g.oldest, g.newest, g.expires_at,
       g.error_class, g.error_message, g.frame, g.status, g.resolved_version, g.resolved_at, g.total, g.groups
  from {schema}.read_dead_groups($1::uuid, $2::text, $3::text, $4::bigint, $5::text, $6::integer) g
