select name, status, kept from {schema}.prune_partition()
