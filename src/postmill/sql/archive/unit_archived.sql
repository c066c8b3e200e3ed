select {schema}.unit_archived($1::uuid, $2::text, $3::text::jsonb)
