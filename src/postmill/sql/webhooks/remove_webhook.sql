select {schema}.door_remove_webhook($1::uuid)
