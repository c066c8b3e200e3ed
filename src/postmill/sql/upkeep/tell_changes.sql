select {schema}.tell_changes($1::integer)
