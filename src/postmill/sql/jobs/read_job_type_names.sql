select t.name from {schema}.read_job_type_names() as t(name)
