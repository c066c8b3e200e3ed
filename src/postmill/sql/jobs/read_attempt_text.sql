select {schema}.read_attempt_text($1::uuid, $2::integer, $3::text)
