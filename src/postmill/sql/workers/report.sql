select {schema}.worker_report($1::uuid, $2::float8, $3::boolean, $4::boolean, $5::text::jsonb)
