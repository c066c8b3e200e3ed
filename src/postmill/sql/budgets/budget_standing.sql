select to_jsonb(s.*)::text from {schema}.budget_standing($1::text, $2::uuid) s
