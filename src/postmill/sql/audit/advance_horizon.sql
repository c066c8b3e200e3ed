select {schema}.advance_horizon()
