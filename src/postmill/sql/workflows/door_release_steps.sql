select {schema}.door_release_steps($1::uuid, $2::text[], $3::text, $4::text, $5::text)
