-- Partitions for three weeks back.
select {schema}.ensure_partitions({schema}.now() - interval '21 days')
