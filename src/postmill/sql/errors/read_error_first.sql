select {schema}.read_error_first($1::text)
