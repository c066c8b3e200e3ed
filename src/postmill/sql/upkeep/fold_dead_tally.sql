select {schema}.fold_dead_tally($1::integer)
