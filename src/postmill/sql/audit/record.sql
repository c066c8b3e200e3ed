select {schema}.audit($1::text, $2::text, $3::text, $4::uuid, $5::text::jsonb, $6::text::jsonb, $7::text)
