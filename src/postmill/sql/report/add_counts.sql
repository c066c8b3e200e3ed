select {schema}.add_counts($1::uuid, $2::bigint, $3::text::jsonb, $4::text::jsonb)
