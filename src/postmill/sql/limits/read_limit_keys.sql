select k.parts, k.running, k.job_id from {schema}.read_limit_keys($1::text, $2::integer) k
