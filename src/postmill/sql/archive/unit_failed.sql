select {schema}.unit_failed($1::uuid, $2::text, $3::text)
