select t.tenant_id, t.slug, t.weight, t.arrived, t.ended, t.failed, t.run_seconds, t.wait_average
  from {schema}.read_queue_tenants($1::text, $2::float8, $3::integer) t
