select l.name, l.queue, l.job_type, l.tenant, l.per, l.max_running, l.rate_count, l.rate_seconds, l.rate_burst, l.declared, l.edited,
       l.running, l.keys, l.at_cap, l.wait_seconds
  from {schema}.read_limit_rules($1::text, $2::text, $3::integer) l
