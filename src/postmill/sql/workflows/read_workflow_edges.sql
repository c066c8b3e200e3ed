select * from {schema}.read_workflow_edges($1::uuid, $2::integer, $3::integer, $4::integer)
