select j.id, j.n from {schema}.read_error_jobs($1::text[], $2::integer) j
