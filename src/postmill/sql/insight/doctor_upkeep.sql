-- When each round of upkeep last ran, and whether anybody is there to run it: not an HTTP worker. waited: seconds that it
-- could have been run in and was not, since it last ran or, where that is later, since the oldest of those who live began.
select u.name, u.last_run_at, u.last_run_by,
       extract(epoch from (select {schema}.now()) - u.last_run_at)::double precision as seconds,
       extract(epoch from (select {schema}.now()) - greatest(u.last_run_at, f.since))::double precision as waited,
       f.since is not null as somebody
  from {schema}.upkeep u
 cross join (select min(l.started_at) as since
               from {schema}.lease l left join {schema}.worker w on w.holder = l.holder
              where l.expires_at > (select {schema}.now()) and w.metadata ->> 'kind' is distinct from 'http') f
 order by u.name
