-- When each round of upkeep last ran, and whether anybody is there to run it.
select u.name, u.last_run_at, u.last_run_by,
       extract(epoch from (select {schema}.now()) - u.last_run_at)::double precision as seconds,
       exists (select from {schema}.lease l where l.expires_at > (select {schema}.now())) as somebody
  from {schema}.upkeep u
 order by u.name
