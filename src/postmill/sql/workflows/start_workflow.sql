select s.id, s.status, s.detail from {schema}.start_workflow($1::text::jsonb, $2::uuid, $3::uuid, $4::text, $5::text, $6::text, $7::text, $8::text) s
