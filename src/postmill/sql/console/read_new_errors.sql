select g.id, g.job_type, g.error_class, g.first_seen_at, g.message
  from {schema}.read_error_groups(p_most => $1::integer, p_statuses => array['new'],
       p_first => (select {schema}.now()) - interval '1 hour') g
 where {schema}.sees_all()
