select {schema}.next_due($1::timestamptz, $2::float8), (select {schema}.now())
