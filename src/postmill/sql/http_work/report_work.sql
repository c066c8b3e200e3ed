select {schema}.door_report_work($1::uuid, $2::uuid, $3::bigint, $4::text, $5::text, $6::text::jsonb, $7::text::jsonb, $8::text::jsonb)::text
