select {schema}.has_webhook($1::uuid)
