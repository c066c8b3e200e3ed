select {schema}.drop_units()
