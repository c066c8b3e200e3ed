select {schema}.tell_measured()
