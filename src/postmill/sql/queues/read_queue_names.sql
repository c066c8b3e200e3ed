select q.name from {schema}.read_queue_names() as q(name)
