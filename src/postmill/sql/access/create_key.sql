select k.id, k.created_at, k.status from {schema}.door_create_key($1::bytea, $2::text, $3::text, $4::uuid, $5::text, $6::timestamptz) k
