select r.id, r.budget_id, r.budget, r.unit, r.tenant_id, r.tenant_slug, r.limit_amount::text, r.until, r.reason, r.actor_type, r.actor_id,
       r.created_at, r.status, r.decided_at, r.decided_by, r.answer
  from {schema}.read_budget_requests($1::uuid, $2::text, $3::uuid, $4::integer) r
