select * from {schema}.read_workflow_steps($1::uuid, $2::integer, $3::integer)
