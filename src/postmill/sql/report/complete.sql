select * from {schema}.complete($1::uuid, $2::uuid[], $3::bigint[], $4::uuid[], $5::bigint[], $6::text[]::jsonb[], $7::integer[], $8::uuid[])
