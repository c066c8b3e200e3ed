select s.channel, s.next_at, s.failures, s.failing_since, s.last_sent_at, s.last_error, s.waiting
  from {schema}.read_channel_states() s
