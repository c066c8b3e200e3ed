select p.job_type, p.paused_at, p.paused_by, p.reason, p.resume_at, p.queue, p.held from {schema}.read_type_pauses($1::text) p
