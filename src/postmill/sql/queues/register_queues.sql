select {schema}.register_queues($1::text::jsonb, $2::boolean)
