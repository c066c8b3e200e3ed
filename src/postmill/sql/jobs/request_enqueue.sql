select e.id, e.status, e.detail, e.tenant_id, e.state, e.created_at
  from {schema}.request_enqueue($1::uuid, $2::boolean, $3::text, $4::text, $5::text, $6::text, $7::text[], $8::text[],
                                $9::integer[], $10::text[]::jsonb[], $11::uuid[], $12::uuid[], $13::integer[], $14::timestamptz[],
                                $15::text[], $16::text[], $17::text[], $18::text[], $19::text[]::jsonb[]) e
