select * from {schema}.bury($1::uuid, $2::uuid[], $3::bigint[], $4::uuid[], $5::bigint[], $6::text[], $7::text[],
       $8::text[], $9::text[], $10::text[], $11::integer[], $12::text[], $13::integer[], $14::integer[], $15::text[], $16::text[],
       $17::text[])
