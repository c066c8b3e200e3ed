-- Jobs whose id lies in a range: an id of which only the beginning was given.
select j.id from {schema}.any_job j where j.id >= $1::uuid and j.id <= $2::uuid order by j.id limit $3::integer
