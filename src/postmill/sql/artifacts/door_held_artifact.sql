select status, artifact::text from {schema}.door_held_artifact($1::uuid, $2::uuid, $3::bigint, $4::uuid)
