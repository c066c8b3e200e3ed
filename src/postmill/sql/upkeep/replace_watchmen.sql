select {schema}.replace_watchmen()
