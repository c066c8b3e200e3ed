-- The process that really answers; behind a pooler it is not the one that the connection was told.
select pg_backend_pid() as pid
