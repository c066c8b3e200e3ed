select {schema}.read_letter_queues($1::text)
