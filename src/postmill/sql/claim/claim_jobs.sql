select * from {schema}.claim($1::uuid, $2::bigint, $3::integer, $4::text[], $5::uuid[], $6::integer[], $7::timestamptz[], $8::integer[], $9::boolean)
