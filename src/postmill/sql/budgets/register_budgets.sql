select r.name, r.status from {schema}.register_budgets($1::text::jsonb) r
