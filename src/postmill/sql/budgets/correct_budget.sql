select c.line, c.status from {schema}.door_correct_budget($1::uuid, $2::text, $3::text::numeric, $4::bigint, $5::bigint, $6::text, $7::text, $8::text) c
