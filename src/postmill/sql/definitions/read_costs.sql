select c.job_type, c.unit, c.per_run::text, c.runs from {schema}.read_type_costs($1::text[]) c
