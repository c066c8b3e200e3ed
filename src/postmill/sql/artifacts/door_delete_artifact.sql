select {schema}.door_delete_artifact($1::uuid, $2::text, $3::text, $4::text)
