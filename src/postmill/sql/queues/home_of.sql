-- The name of a job type and the queue that it belongs to, by the name or an alias.
select h.key, h.queue from {schema}.read_home($1::text) h
