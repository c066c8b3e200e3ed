select {schema}.ensure_partitions({schema}.now())
