select d.id, d.key from {schema}.job_definition d
