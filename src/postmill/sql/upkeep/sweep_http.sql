select {schema}.sweep_http($1::integer)
