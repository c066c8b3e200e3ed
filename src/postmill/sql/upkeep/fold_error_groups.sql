select {schema}.fold_error_groups($1::integer)
