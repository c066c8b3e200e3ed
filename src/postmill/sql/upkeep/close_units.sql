select {schema}.close_units()
