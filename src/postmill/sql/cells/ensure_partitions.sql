select {schema}.ensure_partitions($1::timestamptz)
