select l.holder, l.n, l.oldest_at from {schema}.read_worker_loads() l
