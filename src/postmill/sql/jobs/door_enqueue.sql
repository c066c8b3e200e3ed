select e.id, e.status, e.detail, e.tenant_id, e.state, e.created_at
  from {schema}.door_enqueue($1::text, $2::integer, $3::text::jsonb, $4::uuid, $5::uuid, $6::integer, $7::timestamptz, $8::text,
                             $9::text, $10::text, $11::text, $12::text::jsonb) e
