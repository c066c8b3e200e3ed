select {schema}.read_history_start()
