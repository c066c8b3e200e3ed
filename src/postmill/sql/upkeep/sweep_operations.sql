select {schema}.sweep_operations($1::integer)
