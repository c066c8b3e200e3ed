select s.id, s.status
  from {schema}.door_save_webhook($1::uuid, $2::uuid, $3::text, $4::text, $5::boolean, $6::bytea) s
