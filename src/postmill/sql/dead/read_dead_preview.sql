select {schema}.read_dead_preview($1::text::jsonb, $2::integer)::text
