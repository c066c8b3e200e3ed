select {schema}.renew_unit($1::uuid, $2::text, $3::float8)
