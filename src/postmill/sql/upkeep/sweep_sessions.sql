select {schema}.sweep_sessions()
