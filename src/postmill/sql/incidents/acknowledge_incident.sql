select {schema}.door_acknowledge_incident($1::uuid, $2::text, $3::text, $4::text)
