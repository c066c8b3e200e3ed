-- Of each rate: how many may start a second, and for how many seconds none may any more.
select l.job_type, l.rate_count / l.rate_seconds,
       greatest(0, extract(epoch from t.tat - (select {schema}.now())) - (l.rate_burst - 1) * l.rate_seconds / l.rate_count)::float8
  from {schema}.limit_rule l
  left join lateral (select r.tat from {schema}.rate_take r where r.key = l.key order by r.seq desc limit 1) t on true
 where l.name = 'type:' || l.job_type and l.rate_count is not null
 order by 1 limit 1000
