select {schema}.door_change_tenant($1::uuid, $2::text::jsonb, $3::text)
