select {schema}.register_queues($1::text::jsonb)
