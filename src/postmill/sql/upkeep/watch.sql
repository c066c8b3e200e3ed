select {schema}.watch()
