select b.key, b.amount::text, b.calls, b.tokens_in, b.tokens_out from {schema}.read_budget_breakdown($1::uuid, $2::text, $3::text, $4::integer) b
