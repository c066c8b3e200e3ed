select i.id, i.kind, i.severity, i.status, i.title, i.queue, i.opened_at, i.last_at, i.jobs
  from {schema}.read_live_incidents($1::integer) i
