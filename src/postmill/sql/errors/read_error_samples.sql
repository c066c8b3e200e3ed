select s.failed, s.job_id, s.tenant_id, s.finished_at, s.worker, s.host, s.build, s.version, s.shape, s.payload
  from {schema}.read_error_samples($1::text, $2::text) s
