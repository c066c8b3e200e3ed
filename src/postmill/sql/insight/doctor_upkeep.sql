-- When each round of upkeep last ran, and whether anybody is there to run it: not an HTTP worker.
select u.name, u.last_run_at, u.last_run_by,
       extract(epoch from (select {schema}.now()) - u.last_run_at)::double precision as seconds,
       exists (select from {schema}.lease l left join {schema}.worker w on w.holder = l.holder
                where l.expires_at > (select {schema}.now()) and w.metadata ->> 'kind' is distinct from 'http') as somebody
  from {schema}.upkeep u
 order by u.name
