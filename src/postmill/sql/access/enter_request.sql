select {schema}.enter_request($1::uuid, $2::boolean, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text)
