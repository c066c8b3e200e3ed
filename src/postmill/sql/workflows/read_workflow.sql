select * from {schema}.read_workflow($1::uuid)
