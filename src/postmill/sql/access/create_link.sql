select l.expires_at, l.status from {schema}.door_create_link($1::bytea, $2::text, $3::uuid, $4::text, $5::float8) l
