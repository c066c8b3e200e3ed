-- Worker sessions that have not stopped: alive under a lease, or gone without a word. HTTP workers always go without one.
select w.worker_id, w.hostname, w.pid, w.version, w.draining, w.running_count, w.started_at, w.last_seen_at,
       coalesce(l.expires_at > (select {schema}.now()), false) as alive,
       extract(epoch from (select {schema}.now()) - w.last_seen_at)::double precision as silent_seconds
  from {schema}.worker w
  left join {schema}.lease l on l.holder = w.holder
 where w.stopped_at is null and w.metadata ->> 'kind' is distinct from 'http'
 order by w.last_seen_at desc
