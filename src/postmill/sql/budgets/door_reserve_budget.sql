select r.status, r.figures::text
  from {schema}.door_reserve_budget($1::uuid, $2::text, $3::text::numeric, $4::boolean, $5::uuid, $6::uuid, $7::bigint) r
