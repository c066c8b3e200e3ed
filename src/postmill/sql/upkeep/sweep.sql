select {schema}.sweep($1::integer)
