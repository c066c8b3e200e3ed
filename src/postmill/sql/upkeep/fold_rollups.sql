select {schema}.fold_rollups($1::integer)
