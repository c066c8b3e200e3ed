select t.id, t.status from {schema}.door_create_tenant($1::text, $2::text::jsonb, $3::text) t
