select {schema}.carry_in($1::text)
