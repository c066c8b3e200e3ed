-- What does not go on and no incident tells of, the longest first: queues without a live worker in which jobs wait, and
-- schedules whose last three due moments were left out, since a job of theirs is not over.
-- $1: of each at most; $2: seconds for which a job waits without a word. Of schedules the thousand that ran last.
(select 'queue' as what, q.name, null::uuid as id, null::uuid as job_id, q.queued as n,
        (select {schema}.now()) - q.oldest_seconds * interval '1 second' as since,
        array(select d.tenant from {schema}.read_depths(q.name) d
               where d.state = 'queued' and d.n > 0 and d.tenant not in ('', 'other') order by d.n desc limit 3) as tenants
   from {schema}.read_queue_names() as u(name)
  cross join lateral {schema}.read_queues(u.name) q
  where u.name <> all (array(select s.queue from {schema}.read_live_slots() s))
    and (select {schema}.sees_all()) and not q.paused and q.oldest_seconds > $2::float8
  order by since limit $1::integer)
union all
(select 'trigger', t.label, t.id, t.last_job_id, null, {schema}.id_time(t.last_job_id),
        array(select s.slug from {schema}.read_tenant_slugs(array[t.tenant_id]) s)
   from (select j.* from {schema}.job_triggers j
          where (select {schema}.sees_all()) and j.is_enabled and j.overlap = 'skip' and j.last_job_id is not null
          order by j.last_run_at desc limit 1000) t
  where 3 = (select count(*) from (select k.outcome, k.detail from {schema}.schedule_ticks k
                                    where k.trigger_id = t.id order by k.due desc limit 3) x
              where x.outcome = 'skipped' and x.detail like 'the job of the run before%')
  order by 6 limit $1::integer)
