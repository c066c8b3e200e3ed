select {schema}.seal_batch($1::uuid)
