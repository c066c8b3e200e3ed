-- Every queue with how much is where. One pass over each ticket table; ages by the database's clock, in seconds.
select q.name, q.priority, q.lane,
       q.paused_at is not null and (q.resume_at is null or q.resume_at > m.moment), q.paused_at, q.paused_by,
       q.pause_reason, q.resume_at, coalesce(w.n, 0), coalesce(s.n, 0), coalesce(b.n, 0), coalesce(r.n, 0),
       coalesce(d.n, 0), extract(epoch from m.moment - w.oldest)::double precision,
       extract(epoch from s.nearest - m.moment)::double precision, q.owner, q.contact, q.color, q.sla_seconds,
       q.wait_target_seconds, q.run_target_seconds, q.escalation, a.attained, a.burn
  from {schema}.queue q
 cross join (select {schema}.now() as moment) m
  left join (select t.queue, count(*) as n, min(t.ready_at) as oldest from {schema}.ready t group by 1) w on w.queue = q.name
  left join (select t.queue, count(*) as n, min(t.run_at) as nearest from {schema}.scheduled t group by 1) s on s.queue = q.name
  left join (select t.queue, count(*) as n from {schema}.blocked t group by 1) b on b.queue = q.name
  left join (select t.queue, count(*) as n from {schema}.running t group by 1) r on r.queue = q.name
  left join (select t.queue, count(*) as n from {schema}.dead_letter t group by 1) d on d.queue = q.name
  left join {schema}.attainment a on a.queue = q.name and a.measured_at > m.moment - interval '5 minutes'
 order by q.priority, q.name
