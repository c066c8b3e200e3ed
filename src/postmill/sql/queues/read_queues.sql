select q.name, q.priority, q.lane, q.paused, q.paused_at, q.paused_by, q.pause_reason, q.resume_at, q.queued, q.scheduled,
       q.blocked, q.running, q.dead_letters, q.oldest_seconds, q.next_due_seconds
  from {schema}.read_queues($1::text) q
