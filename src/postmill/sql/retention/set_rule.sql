select {schema}.door_set_retention($1::uuid, $2::text, $3::float8, $4::boolean, $5::text, $6::text, $7::text)
