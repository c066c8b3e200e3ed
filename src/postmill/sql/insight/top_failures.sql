select g.id, g.job_type, g.error_class, left(g.message, 500), g.count, g.tenants, g.first_seen_at, g.last_seen_at, g.sample_job
  from {schema}.read_error_groups(p_since => (select {schema}.now()) - interval '1 day', p_most => $1::integer) g
