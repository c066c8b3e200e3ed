select c.state, c.n, c.at_least from {schema}.read_matching_counts($1::jsonb) c
