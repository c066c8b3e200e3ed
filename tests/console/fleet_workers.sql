-- Workers in all conditions: lost, alive and full with a wrong clock, stopped cleanly, and a new build.
insert into postmill.worker (holder, worker_id, hostname, pid, version, queues, slots, job_types, started_at, last_seen_at,
       stopped_at, running_count, metadata, full_since, skew_seconds, report)
select w.holder, w.name || ':7:x', w.name, 7, w.version, array[%(queue)s], jsonb_build_object(%(queue)s::text, 2), '{}',
       m.moment - w.since, m.moment - w.seen, m.moment - w.stopped, w.running, '{"definitions": {"plain": "a"}}',
       m.moment - w.full, w.skew, %(report)s::jsonb
  from (values (%(lost)s::uuid, 'lost-1', '1', interval '9 h', interval '6 min', null::interval, 0, null::interval, 0.0),
               (%(live)s::uuid, %(evil)s, '1', interval '8 h', interval '3 s', null, 2, interval '11 min', 4.5),
               (%(clean)s::uuid, 'clean-1', '1', interval '7 h', interval '20 s', interval '19 s', 0, null, 0.0),
               (%(new)s::uuid, 'new-1', '2', interval '1 h', interval '1 s', null, 0, null, 0.0))
       w(holder, name, version, since, seen, stopped, running, "full", skew)
 cross join (select postmill.now() as moment) m
