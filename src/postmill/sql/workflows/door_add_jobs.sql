select a.status, a.detail, a.total from {schema}.door_add_jobs($1::uuid, $2::text::jsonb) a
