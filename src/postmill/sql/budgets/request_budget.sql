select r.id, r.status
  from {schema}.door_request_budget($1::uuid, $2::text::numeric, $3::timestamptz, $4::text, $5::text, $6::text) r
