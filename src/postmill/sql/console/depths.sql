select d.queue, d.tenant, d.state, d.n, d.oldest_seconds from {schema}.read_depths($1::text) d
