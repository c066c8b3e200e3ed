select {schema}.retire()
