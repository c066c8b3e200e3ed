select status, attempt, created_at, expires_at
  from {schema}.keep_artifact($1::uuid, $2::uuid, $3::uuid, $4::uuid, $5::bigint, false, $6::text, $7::text, $8::bigint, $9::bytea, $10::float8)
