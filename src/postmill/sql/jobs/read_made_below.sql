select {schema}.read_made_below($1::text[], $2::uuid)
