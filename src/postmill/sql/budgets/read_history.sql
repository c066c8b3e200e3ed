select to_jsonb(h.*)::text from {schema}.read_budget_history($1::uuid, $2::integer, $3::integer) h
