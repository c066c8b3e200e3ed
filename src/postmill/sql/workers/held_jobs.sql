select j.id, j.tenant_id, j.job_type, j.queue, j.attempt, j.max_attempts, j.claimed_at, j.timeout_seconds, j.replay_class, j.lost,
       j.progress_done, j.progress_total, j.progress_message
  from {schema}.read_worker_jobs($1::uuid, $2::integer) j
