select b.at, b.amount::text
  from {schema}.read_budget_burn($1::uuid, $2::text, $3::float8 * interval '1 second') b
