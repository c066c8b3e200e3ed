select a.status, a.detail, a.total from {schema}.add_jobs($1::uuid, $2::text::jsonb) a
