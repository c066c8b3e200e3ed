-- What open dead letters can be asked for by: queues, and the names that they give to theirs.
select q.name from {schema}.read_letter_queue_names() as q(name)
