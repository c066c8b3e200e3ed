-- How many jobs are where, and for how many seconds the first has waited or run (scheduled: null, it is not due yet).
select x.queue, x.state, count(*), extract(epoch from (select {schema}.now()) - min(x.at))::float8
  from (select * from (select r.queue, 'queued' as state, r.ready_at as at from {schema}.ready r limit 100000) r
        union all select * from (select s.queue, 'scheduled', null::timestamptz from {schema}.scheduled s limit 100000) s
        union all select r.queue, 'running', r.claimed_at from {schema}.running r
        union all select d.queue, 'dead_letter', d.failed_at from {schema}.dead_letter d) x
 group by 1, 2
