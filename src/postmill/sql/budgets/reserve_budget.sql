select r.status, r.figures::text
  from {schema}.reserve_budget($1::uuid, $2::text, $3::text::numeric, $4::boolean, $5::uuid, $6::uuid, $7::bigint, $8::uuid, $9::integer, $10::text, $11::text, $12::text) r
