select r.id, r.tenant_id, r.job_type, r.queue, r.attempt, r.max_attempts, r.worker_id, r.seconds, r.progress_done, r.progress_total,
       r.progress_message
  from {schema}.read_running($1::integer) r
