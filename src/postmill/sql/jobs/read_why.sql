select w.id, w.job_type, w.queue, w.state, w.attempt, w.max_attempts, w.reason, w.error_class, w.error_message,
       w.cancel_requested, w.worker_id, w.paused, w.pause_reason, w.resume_at, w.tenant_status, w.is_active, w.due_seconds,
       w.expired, w.limits, w.worker_limit, w.type_running, w.held_by, w.type_workers,
       w.queue_workers, w.draining_workers, w.outdated, w.slots, w.queue_running, w.ahead, w.ready_seconds, w.replayed_as,
       w.budget, w.budget_level, w.budget_action, w.budget_ends, w.type_paused,
       w.type_pause_reason, w.type_resume_at, w.pinned, w.pin_workers, w.refused, w.refused_by, w.knowing
  from {schema}.read_why($1::uuid) w
