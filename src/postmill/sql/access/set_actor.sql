select {schema}.set_actor($1::text, $2::text, $3::text, $4::text, $5::text, $6::text)
