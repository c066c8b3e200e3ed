select t.name from {schema}.job_type_names() as t(name)
