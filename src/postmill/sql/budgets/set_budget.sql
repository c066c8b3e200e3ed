select s.id, s.status from {schema}.door_set_budget($1::text, $2::uuid, $3::text::jsonb, $4::text, $5::text, $6::text, $7::text) s
