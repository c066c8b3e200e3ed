select {schema}.open_writers()
