-- Open queues in which due jobs wait and that no live worker serves: how many (of each queue's tickets, and of all that
-- nobody has promoted, $1 are looked at), for how long one of these has waited, and what kinds of job types are at home there.
with due as materialized (
    select s.queue, s.run_at from {schema}.scheduled s
     where s.run_at <= (select {schema}.now()) order by s.run_at limit $1::integer
)
select q.name as queue, n.waiting::integer as waiting, n.waiting >= $1::integer as more,
       extract(epoch from (select {schema}.now()) - n.oldest)::double precision as seconds,
       coalesce((select array_agg(distinct d.kind order by d.kind) from {schema}.job_definition d
                  where d.queue = q.name and d.is_active), '{}') as kinds
  from {schema}.queue q
 cross join lateral (
           select count(*) as waiting, min(t.moment) as oldest
             from ((select r.ready_at as moment from {schema}.ready r where r.queue = q.name limit $1::integer)
                   union all
                   select s.run_at from due s where s.queue = q.name) t) n
 where n.waiting > 0
   and (q.paused_at is null or q.resume_at <= (select {schema}.now()))
   and not exists (select from {schema}.worker w join {schema}.lease l on l.holder = w.holder
                    where l.expires_at > (select {schema}.now()) and not w.draining and q.name = any (w.queues))
 order by n.oldest
