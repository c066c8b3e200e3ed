select s.id from {schema}.stirred_workflows($1::integer) as s(id)
