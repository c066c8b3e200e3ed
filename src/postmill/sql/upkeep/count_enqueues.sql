select {schema}.count_enqueues()
