select {schema}.set_gate($1::uuid, $2::text, $3::text, $4::uuid, $5::text[]), {schema}.now()
