select * from {schema}.put_back($1::uuid, $2::uuid[], $3::bigint[], $4::uuid[], $5::bigint[], $6::text[], $7::float8[], $8::integer[],
       $9::text[], $10::text[], $11::text[], $12::integer[], $13::text[], $14::integer[], $15::integer[], $16::text[], $17::text[],
       $18::text[])
