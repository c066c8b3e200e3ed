select p.payload, p.result from {schema}.read_job_payload($1::uuid) p
