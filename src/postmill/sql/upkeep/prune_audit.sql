select {schema}.prune_audit($1::integer)
