select r.trigger_id, r.at, r.outcome, r.detail, r.job_id, r.ticks, r.state
  from {schema}.read_trigger_runs($1::uuid[], $2::integer) r
