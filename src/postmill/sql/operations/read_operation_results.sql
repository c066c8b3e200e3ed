select {schema}.read_operation_results($1::uuid)::text
