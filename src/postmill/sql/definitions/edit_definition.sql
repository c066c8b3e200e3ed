select c.status, c.detail
  from {schema}.door_edit_definition($1::uuid, $2::text::jsonb, $3::text[], $4::text[], $5::integer) c
