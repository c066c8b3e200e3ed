select l.job_type, l.worker_limit, l.rate_count, l.rate_seconds, l.rate_burst, l.blocked_seconds
  from {schema}.read_queue_limits($1::text) l
