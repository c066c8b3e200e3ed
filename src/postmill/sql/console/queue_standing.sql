select s.queue, s.workers, s.draining, s.slots, s.arrived_rate, s.ended_rate, s.failed_rate, s.wait_p95, s.run_p95, s.total_p95, s.n,
       s.attained_day, s.burn_day, s.breach_since, s.breach_title, s.incident_id, s.ended_hour, s.runbook
  from {schema}.read_queue_standing($1::text) s
