-- What the last round left, and its age in seconds.
select u.note, extract(epoch from (select {schema}.now()) - u.last_run_at)::float8
  from {schema}.upkeep u where u.name = $1::text
