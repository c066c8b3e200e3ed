-- Of each queue in the last four to five minutes, whole ones and the one that goes on: jobs that ended and attempts that
-- failed, a minute; p95 of the time from due to finished, in seconds.
with span as materialized (
    select m.moment, date_bin('1 minute', m.moment - interval '4 minutes', timestamptz '2000-01-01 00:00+00') as since
      from (select {schema}.now() as moment) m
)
select s.name, (select sum(c.value::bigint) from jsonb_each_text(s.counts) c where c.key in ('succeeded', 'failed', 'canceled', 'dead_letter'))
           / extract(epoch from p.moment - p.since)::double precision * 60,
       (select sum(c.value::bigint) from jsonb_each_text(s.counts) c where c.key in ('retried', 'lost', 'failed', 'dead_letter'))
           / extract(epoch from p.moment - p.since)::double precision * 60, s.totals[3]
  from span p
 cross join lateral {schema}.read_stats(p.since, p.moment + interval '1 second', null, 'queue') s
