select d.id, d.incident_id, d.event, d.step, d.cycle, d.instead_of, d.tries, d.kind, d.key, d.severity, d.title, d.facts::text, d.queue, d.job_type,
       d.tenant, d.count, d.jobs, d.tenants, d.opened_at, d.acknowledged_by, d.resolved_at, d.note, d.job_id, d.action,
       d.fields::text, d.secret_keys, d.reopened
  from {schema}.due_notifications($1::text, $2::integer) d
