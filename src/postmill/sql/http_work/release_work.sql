select {schema}.door_release_work($1::uuid, $2::bigint)
