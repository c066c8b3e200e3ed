select {schema}.door_end_login($1::uuid, $2::text)
