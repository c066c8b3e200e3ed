-- Workflows whose id lies in a range: an id of which only the beginning was given.
select w.id from {schema}.workflow w where w.id >= $1::uuid and w.id <= $2::uuid order by w.id limit $3::integer
