select {schema}.read_job_page($1::uuid)::text
