select t.status, t.name, t.tenant_id, t.percent::float8, t.severity from {schema}.tell_budget_alerts($1::integer) t
