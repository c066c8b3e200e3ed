select p.job_type, p.paused_at, p.paused_by, p.reason, p.resume_at from {schema}.read_type_pauses($1::text) p
