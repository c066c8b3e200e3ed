select j.id, j.tenant_id, j.job_type, j.status, j.started_at, j.finished_at, j.attempt, j.error_class, j.error_message
  from {schema}.read_worker_ended($1::uuid, $2::integer, $3::integer) j
