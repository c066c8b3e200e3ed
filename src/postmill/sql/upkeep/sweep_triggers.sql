select {schema}.sweep_triggers($1::integer)
