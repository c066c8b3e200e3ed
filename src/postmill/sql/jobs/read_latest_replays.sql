-- What was replayed, as which job at last, and how that one stands.
select u.id, n.id, s.state
  from unnest($1::uuid[]) as u(id)
 cross join lateral (select f.id from (select j.id from {schema}.any_job j where j.replayed_from = u.id offset 0) f
                      order by f.id desc limit 1) n
 cross join lateral {schema}.read_job_state(array[n.id]) s
