select status, name from {schema}.door_set_limit($1::text, $2::text, $3::text[], $4::integer, $5::text::jsonb, $6::text, $7::text, $8::text)
