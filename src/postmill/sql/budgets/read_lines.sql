select to_jsonb(l.*)::text from {schema}.read_budget_lines($1::uuid, $2::text, $3::uuid, $4::integer) l
