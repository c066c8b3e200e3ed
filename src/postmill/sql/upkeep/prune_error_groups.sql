select {schema}.prune_error_groups({schema}.keep_of('error_groups'), $1::integer)
