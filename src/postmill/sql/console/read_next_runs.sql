select * from {schema}.read_next_runs($1::integer)
