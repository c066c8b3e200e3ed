select m.id, m.bucket, m.n
  from {schema}.read_error_minutes($1::text[], $2::timestamptz, $3::timestamptz, $4::float8, $5::uuid) m
