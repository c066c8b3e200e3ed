select {schema}.step_context($1::uuid, $2::uuid)::text
