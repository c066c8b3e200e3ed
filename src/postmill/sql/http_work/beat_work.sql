select status, lease_expires_at, deadline, cancel_requested, cancel_reason
  from {schema}.door_beat_work($1::uuid, $2::uuid, $3::bigint, $4::float8, $5::float8, $6::text)
