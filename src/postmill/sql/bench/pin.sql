-- Takes a snapshot, which holds back vacuum in this database until the transaction ends.
select pg_backend_pid()
