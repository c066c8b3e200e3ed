select s.queue, s.paused, s.waiting, s.at_least, s.oldest_seconds, s.running, s.arrived_rate, s.ended_rate, s.run_seconds, s.workers,
       s.draining, s.slots, s.most_slots, s.sla_seconds, s.wait_target_seconds, s.moment
  from {schema}.read_scaling($1::text) s
