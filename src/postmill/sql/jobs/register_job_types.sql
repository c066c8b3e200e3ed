select r.key, r.status from {schema}.register_job_types($1::text::jsonb) r
