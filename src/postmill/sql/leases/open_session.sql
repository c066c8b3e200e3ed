select {schema}.open_session($1::uuid, $2::float8, $3::text, $4::text, $5::integer, $6::text, $7::text[], $8::text::jsonb, $9::text[], $10::text::jsonb, $11::text)
