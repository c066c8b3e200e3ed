select {schema}.carry_rest($1::uuid, $2::timestamptz, $3::boolean)
