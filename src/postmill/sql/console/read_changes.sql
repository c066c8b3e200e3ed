-- $1 seconds ago, $2 at most.
select * from {schema}.read_changes((select {schema}.now()) - $1::float8 * interval '1 second', $2::integer)
