select {schema}.carry_known()
