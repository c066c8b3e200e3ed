select * from {schema}.claim_limited($1::uuid, $2::bigint, $3::integer, $4::integer, $5::text[], $6::uuid[], $7::integer[], $8::timestamptz[], $9::integer[], $10::uuid[], $11::bigint[])
