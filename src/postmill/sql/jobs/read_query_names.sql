select n.field, n.name, n.ids from {schema}.read_query_names($1::jsonb) n
