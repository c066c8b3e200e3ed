select s.id, s.status, s.detail from {schema}.door_start_workflow($1::text::jsonb, $2::uuid, $3::uuid, $4::text, $5::text) s
