-- Queues whose dead letters have a name of their own.
select q.name, q.dead_letters_as from {schema}.queue q where q.dead_letters_as is not null
