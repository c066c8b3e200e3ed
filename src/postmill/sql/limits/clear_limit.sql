select {schema}.door_clear_limit($1::text, $2::text, $3::text, $4::text)
