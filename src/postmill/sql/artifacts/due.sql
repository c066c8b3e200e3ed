-- May a round begin, the last one having begun so many seconds ago? With the moment, and what it left.
select u.last_run_at is null or u.last_run_at <= (select {schema}.now()) - $2::float8 * interval '1 second',
       (select {schema}.now()), u.note::text
  from {schema}.upkeep u where u.name = $1::text
