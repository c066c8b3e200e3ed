select {schema}.leave($1::uuid)
