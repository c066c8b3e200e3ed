-- How many jobs are where, by tenant, and for how many seconds the first has waited or run (scheduled: null, it is not due
-- yet). Tickets know their lane and not their tenant: a tenant's own lane bears its id, of any other one job is asked.
with tickets as materialized (
    select x.queue, x.lane, x.state, count(*) as n, min(x.at) as at
      from (select * from (select r.queue, r.lane, 'queued' as state, r.ready_at as at, r.id from {schema}.ready r limit 100000) r
            union all select * from (select s.queue, s.lane, 'scheduled', null::timestamptz, s.id from {schema}.scheduled s limit 100000) s
            union all select r.queue, r.lane, 'running', r.claimed_at, r.id from {schema}.running r
            union all select d.queue, d.tenant_id, 'dead_letter', d.failed_at, d.id from {schema}.dead_letter d) x
     group by 1, 2, 3
), lanes as materialized (
    select l.lane, l.n, coalesce(t.slug, o.slug, '') as tenant
      from (select k.lane, sum(k.n) as n from tickets k group by 1 order by 2 desc limit 200) l
      left join {schema}.tenant t on t.id = l.lane
      left join lateral (
        select n.slug from (select r.id from tickets k join {schema}.ready r on r.queue = k.queue and r.lane = k.lane
                             where k.lane = l.lane and k.state = 'queued' limit 1) a
          join lateral (select j.tenant_id from {schema}.job j where j.id = a.id offset 0) b on true
          join {schema}.tenant n on n.id = b.tenant_id
         where t.id is null and l.lane <> '00000000-0000-0000-0000-000000000000') o on true
)
select k.queue, case when l.lane is null then 'other' else l.tenant end, k.state, sum(k.n)::bigint,
       extract(epoch from (select {schema}.now()) - min(k.at))::float8
  from tickets k left join lanes l on l.lane = k.lane
 group by 1, 2, 3
