select h.recorded_at, h.key, h.kind, h.event, h.happened_at, h.org_id, h.project_id, h.actor_type, h.actor_id, h.role, h.via,
       h.request_id, h.correlation_id, h.target_kind, h.target, h.result, h.reason, h.before::text, h.after::text, h.job_id,
       h.job_type, h.attempt, h.status, h.error_class, h.started_at, h.finished_at, h.db_role
  from {schema}.read_history($1::timestamptz, $2::text, $3::timestamptz, $4::integer, $5::text, $6::text[]) h
