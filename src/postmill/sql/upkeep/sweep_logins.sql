select {schema}.sweep_logins()
