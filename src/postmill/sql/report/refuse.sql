select * from {schema}.refuse($1::uuid, $2::uuid[], $3::bigint[], $4::text[])
