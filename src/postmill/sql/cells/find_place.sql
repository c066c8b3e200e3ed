select {schema}.find_place($1::text)
