select r.job_id, r.outcome, r.detail from {schema}.door_run_trigger($1::uuid, $2::text::jsonb, $3::text, $4::text) r
