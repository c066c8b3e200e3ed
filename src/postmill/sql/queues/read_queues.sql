select q.name, q.priority, q.lane, q.paused, q.paused_at, q.paused_by, q.pause_reason, q.resume_at, q.queued, q.scheduled,
       q.blocked, q.running, q.dead_letters, q.oldest_seconds, q.next_due_seconds,
       q.owner, q.contact, q.color, q.sla_seconds, q.wait_target_seconds, q.run_target_seconds, q.escalation, q.attained, q.burn
  from {schema}.read_queues($1::text) q
