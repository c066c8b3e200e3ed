select slot, asked, wait_seconds, contended, job::text
  from {schema}.door_claim_work($1::uuid, $2::integer, $3::float8, $4::text[], $5::text[], $6::uuid[], $7::integer[], $8::timestamptz[], $9::integer[])
