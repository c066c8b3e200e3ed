select o.id, o.status, o.total
  from {schema}.door_start_operation($1::text, $2::text::jsonb, $3::text::jsonb, $4::text, $5::text, $6::text, $7::text::jsonb,
                                     $8::uuid) o
