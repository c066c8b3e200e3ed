select {schema}.await_seats($1::uuid, $2::bigint[], $3::float8)
