select * from {schema}.read_queue_standing($1::text[])
