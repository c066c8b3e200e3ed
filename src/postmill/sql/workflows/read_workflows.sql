select * from {schema}.read_workflows($1::integer, $2::uuid, $3::text, $4::text, $5::text)
