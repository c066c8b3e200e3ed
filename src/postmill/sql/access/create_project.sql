select p.id, p.created_at, p.status from {schema}.door_create_project($1::uuid, $2::text, $3::text) p
