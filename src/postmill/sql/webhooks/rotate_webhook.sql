select {schema}.door_rotate_webhook($1::uuid, $2::bytea, $3::text::interval)
