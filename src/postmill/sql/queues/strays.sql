-- Tickets in another queue than their job type's, by type and queue: how many wait, how many run. $1: one job type or
-- NULL. Of each table of tickets the $2 oldest are looked at: where nobody serves a queue any more, what is in it is old.
with seen as materialized (
    select true as waits, r.* from (select t.id, t.queue from {schema}.ready t order by t.id limit $2::integer) r
    union all
    select true, s.* from (select t.id, t.queue from {schema}.scheduled t order by t.id limit $2::integer) s
    union all
    select true, b.* from (select t.id, t.queue from {schema}.blocked t order by t.id limit $2::integer) b
    union all
    select false, x.* from (select t.id, t.queue from {schema}.running t order by t.id limit $2::integer) x
), typed as materialized (
    select j.job_type, s.queue, count(*) filter (where s.waits) as waits, count(*) filter (where not s.waits) as runs
      from seen s
     cross join lateral (select b.job_type from {schema}.any_job b where b.id = s.id offset 0) j
     group by j.job_type, s.queue
)
select d.key, t.queue, d.queue, sum(t.waits)::bigint, sum(t.runs)::bigint
  from typed t
 cross join lateral (select f.key, f.queue from {schema}.job_definition f
                      where f.key = t.job_type or f.aliases @> array[t.job_type]
                      order by f.key <> t.job_type limit 1) d
 where t.queue <> d.queue and ($1::text is null or d.key = $1::text)
 group by d.key, t.queue, d.queue
 order by 4 desc, 5 desc, 1, 2
