select {schema}.door_doze_work($1::uuid, $2::text[], $3::float8)
