select s.state, s.n, s.at_least, s.oldest_seconds, s.open_letters, s.retrying, s.retrying_at_least
  from {schema}.read_summary($1::uuid) s
