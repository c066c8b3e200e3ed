select {schema}.copy_in($1::text)
