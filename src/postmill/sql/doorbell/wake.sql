select {schema}.wake($1::uuid, $2::text[])
