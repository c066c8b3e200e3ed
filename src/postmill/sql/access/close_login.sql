select {schema}.close_login($1::bytea, $2::text)
