select {schema}.close_session($1::uuid, $2::text::jsonb)
