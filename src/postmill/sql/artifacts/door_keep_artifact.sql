select status, attempt, created_at, expires_at
  from {schema}.door_keep_artifact($1::uuid, $2::uuid, $3::uuid, $4::bigint, $5::text, $6::text, $7::bigint, $8::bytea, $9::float8)
