select * from {schema}.settled($1::uuid, $2::uuid[], $3::bigint[])
