select e.status, e.job_type, e.unit, e.booked::text, e.figures::text
  from {schema}.door_end_reservation($1::uuid, $2::uuid, $3::uuid, $4::bigint, $5::text, $6::text::numeric, $7::bigint, $8::bigint) e
