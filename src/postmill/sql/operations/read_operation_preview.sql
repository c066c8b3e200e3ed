select {schema}.read_operation_preview($1::text, $2::text::jsonb, $3::uuid, $4::integer, $5::integer)::text
