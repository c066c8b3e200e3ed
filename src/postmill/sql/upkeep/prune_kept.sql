select {schema}.prune_kept($1::integer)
