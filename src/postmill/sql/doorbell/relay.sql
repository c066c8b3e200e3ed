select {schema}.relay($1::uuid, $2::text)
