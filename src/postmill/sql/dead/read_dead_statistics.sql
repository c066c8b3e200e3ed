select {schema}.read_dead_statistics($1::uuid, $2::integer)::text
