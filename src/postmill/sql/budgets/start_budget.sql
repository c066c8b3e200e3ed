select {schema}.start_budget($1::uuid, $2::uuid, $3::uuid, $4::bigint)
