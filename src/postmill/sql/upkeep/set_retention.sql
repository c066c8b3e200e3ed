select {schema}.set_retention($1::text::jsonb, $2::float8, $3::text[])
