select status, detail, known, holder, queues, types, sealed
  from {schema}.door_open_work($1::text, $2::text[], $3::text[], $4::float8, $5::text::jsonb)
