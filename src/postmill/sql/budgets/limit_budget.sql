select {schema}.door_limit_budget($1::uuid, $2::text, $3::text::numeric, $4::text, $5::text, $6::text, $7::timestamptz)
