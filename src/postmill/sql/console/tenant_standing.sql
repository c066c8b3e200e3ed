select s.tenant_id, s.arrived, s.ended, s.failed, s.run_seconds, s.judged, s.late, s.fleet_seconds, s.last_at
  from {schema}.read_tenant_standing($1::uuid[], $2::float8) s
