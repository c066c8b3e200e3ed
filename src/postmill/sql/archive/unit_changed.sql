select {schema}.unit_changed($1::uuid, $2::text::jsonb, $3::text)
