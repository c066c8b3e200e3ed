select s.id, s.status from {schema}.door_save_trigger($1::uuid, $2::timestamptz, $3::uuid, $4::text::jsonb) s
