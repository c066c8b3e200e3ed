-- Worker sessions seen since $1 seconds ago (NULL: all), the live ones first. lost: its lease ended and nobody closed it.
select w.holder, w.worker_id, w.hostname, w.pid, w.version, w.queues, w.slots::text, w.job_types,
       case when w.stopped_at is not null then 'stopped' when l.expires_at is null or l.expires_at <= m.moment then 'lost'
            when w.draining then 'draining' else 'running' end as state,
       w.running_count, w.started_at, w.last_seen_at, w.stopped_at, l.expires_at, w.metadata::text, w.asked, w.asked_at,
       w.asked_by, w.asked_reason, w.draining_since, w.full_since, w.skew_seconds, w.report::text, w.build
  from {schema}.worker w
 cross join (select {schema}.now() as moment) m
  left join {schema}.lease l on l.holder = w.holder
 where $1::double precision is null or w.last_seen_at >= m.moment - $1::double precision * interval '1 second'
 order by w.stopped_at is not null, w.last_seen_at desc, w.worker_id
