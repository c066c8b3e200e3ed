select {schema}.watch_live($1::uuid, $2::float8)
