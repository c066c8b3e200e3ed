select {schema}.expire_letters($1::integer)
