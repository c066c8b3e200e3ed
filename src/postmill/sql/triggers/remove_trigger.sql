select {schema}.door_remove_trigger($1::uuid, $2::text)
