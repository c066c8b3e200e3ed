-- What is paused: of these queues, by name; and every name of a paused job type.
select true as queue, q.name from {schema}.queue q
 where q.name = any ($1::text[]) and q.paused_at is not null
   and (q.resume_at is null or q.resume_at > (select {schema}.now()))
union all
select false, t.name from unnest({schema}.paused_types()) as t(name)
