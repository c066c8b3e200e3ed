select c.id, c.status, c.detail from {schema}.door_create_definition($1::text::jsonb, $2::text[]) c
