select {schema}.release_held($1::integer)
