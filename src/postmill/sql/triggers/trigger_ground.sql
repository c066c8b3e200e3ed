select g.moment, g.tenant_id, g.slug, g.timezone, g.definition_id, g.job_type, g.is_active
  from {schema}.read_trigger_ground($1::uuid, $2::text) g
