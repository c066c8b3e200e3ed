select {schema}.door_seal_batch($1::uuid)
