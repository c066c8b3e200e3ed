select {schema}.count_dead_letters($1::integer)
