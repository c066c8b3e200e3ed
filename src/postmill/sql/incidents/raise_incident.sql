select {schema}.raise_incident($1::text, $2::text, $3::text, $4::text, $5::text::jsonb, $6::uuid, $7::text, $8::text, $9::uuid)
