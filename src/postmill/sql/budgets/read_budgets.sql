select to_jsonb(b.*)::text from {schema}.read_budgets($1::text, $2::uuid, $3::integer, $4::uuid, $5::text, $6::uuid) b
