select {schema}.prune_workflows($1::integer)
