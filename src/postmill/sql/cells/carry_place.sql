select {schema}.carry_place()
