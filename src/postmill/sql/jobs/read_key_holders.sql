select h.id from {schema}.read_key_holders($1::text) as h(id)
