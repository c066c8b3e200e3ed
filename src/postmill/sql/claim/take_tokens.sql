select {schema}.take_tokens($1::bigint, $2::integer)
