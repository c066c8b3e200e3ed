select {schema}.resolve_incident($1::text, $2::text)
