select s::text from {schema}.door_budget_standing($1::text, $2::uuid) s
