select s.trigger_id, s.tenant_slug, s.queue, s.owner, s.is_active, s.paused, s.pause_reason, s.resume_at, s.served, s.missed, s.last_missed
  from {schema}.read_trigger_standing($1::uuid[]) s
