select {schema}.door_resolve_incident($1::uuid, $2::text, $3::text, $4::text)
