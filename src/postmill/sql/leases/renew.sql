select {schema}.renew($1::uuid, $2::float8, $3::integer, $4::boolean)
