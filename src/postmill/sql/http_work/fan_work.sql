select status, detail from {schema}.door_fan_work($1::uuid, $2::uuid, $3::bigint, $4::text::jsonb)
