select i.id, i.kind, i.key, i.severity, i.status, i.title, i.facts::text, i.tenant_id, i.queue, i.job_type, i.count, i.jobs,
       i.tenants, i.opened_at, i.last_at, i.acknowledged_at, i.acknowledged_by, i.resolved_at, i.resolved_by, i.note,
       i.reopened
  from {schema}.read_incidents($1::uuid, $2::text, $3::text, $4::text, $5::uuid, $6::integer) i
