select {schema}.seal($1::bigint, $2::uuid[], $3::bytea[])
