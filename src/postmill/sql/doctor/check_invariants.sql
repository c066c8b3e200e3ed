-- What must never be, among jobs made since $1 (NULL: all), at most $3 of each kind. One statement, so one snapshot:
-- a ticket that moves meanwhile is seen in one place. $2: the length of a lease in seconds.
with moment as materialized (
    select {schema}.now() as now, coalesce({schema}.id_at($1::timestamptz), '00000000-0000-0000-0000-000000000000') as low
), places as (
    select t.id, 'ready' as place from {schema}.ready t, moment m where t.id >= m.low
    union all select t.id, 'scheduled' from {schema}.scheduled t, moment m where t.id >= m.low
    union all select t.id, 'blocked' from {schema}.blocked t, moment m where t.id >= m.low
    union all select t.id, 'running' from {schema}.running t, moment m where t.id >= m.low
    union all select t.id, case t.reason when 'undecodable' then 'undecodable' else 'dead_letter' end
                from {schema}.dead_letter t, moment m where t.id >= m.low
    union all select o.job_id, 'outcome' from {schema}.outcome o, moment m where o.job_id >= m.low
), stands as materialized (
    select coalesce(b.id, p.id) as id, b.id is not null as has_body, count(p.place) as n,
           string_agg(p.place, ' + ' order by p.place) as places
      from (select j.id from {schema}.any_job j, moment m where j.id >= m.low) b
      full join places p on p.id = b.id
     group by 1, 2
)
(select 'lost', s.id, 'a body without ticket or outcome' from stands s where s.has_body and s.n = 0
    -- Of a tenant that is being moved, bodies go ahead and stay behind.
    and not exists (select from {schema}.any_job j join {schema}.tenant_gate g on g.tenant_id = j.tenant_id where j.id = s.id) limit $3::integer)
union all
(select 'two_outcomes', s.id, s.places from stands s where s.n > 1 and s.places = rtrim(repeat('outcome + ', s.n::integer), '+ ')
  limit $3::integer)
union all
(select 'two_places', s.id, s.places from stands s
  where s.n > 1 and s.places <> rtrim(repeat('outcome + ', s.n::integer), '+ ') limit $3::integer)
union all
(select 'no_body', s.id, s.places from stands s where not s.has_body and s.places not in ('outcome', 'undecodable') limit $3::integer)
union all
(select 'ghost', r.id, 'running under a lease that ended ' || coalesce(h.expires_at::text, l.expires_at::text, 'long ago') || ', worker '
        || coalesce(w.worker_id, r.holder::text)
   from {schema}.running r cross join moment m
   left join {schema}.lease l on l.holder = r.holder
   left join {schema}.worker w on w.holder = r.holder
   left join {schema}.http_claim h on h.job_id = r.id and h.claim_no = r.claim_no
  where coalesce(h.expires_at, l.expires_at, greatest(r.claimed_at, w.stopped_at)) < m.now - 2 * $2::double precision * interval '1 second'
  limit $3::integer)
union all
(select 'stale_cancel', c.job_id, 'a cancel request of ' || c.requested_at::text || ' for a job that has ended'
   from {schema}.cancel_request c cross join moment m
  where c.requested_at < m.now - interval '1 minute'
    and (exists (select from {schema}.outcome o where o.job_id = c.job_id)
      or exists (select from {schema}.dead_letter d where d.id = c.job_id))
  limit $3::integer)
union all
(select 'stray_seat', s.job_id, 'a seat of limit ' || s.limit_id || ' for a job that does not run'
   from {schema}.seat s
  where not exists (select from {schema}.running r where r.id = s.job_id and r.seat_no = s.seat_no) limit $3::integer)
union all
(select 'no_seat', r.id, 'it runs as one that holds a seat, and holds none'
   from {schema}.running r where r.seat_no is not null and not exists (select from {schema}.seat s where s.seat_no = r.seat_no) limit $3::integer)
