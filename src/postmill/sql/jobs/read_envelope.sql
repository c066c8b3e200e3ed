select {schema}.read_envelope($1::uuid)::text
