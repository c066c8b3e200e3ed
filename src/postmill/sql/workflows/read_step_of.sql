select * from {schema}.read_step_of($1::uuid)
