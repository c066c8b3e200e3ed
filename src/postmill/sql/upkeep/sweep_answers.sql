select {schema}.sweep_answers($1::integer)
