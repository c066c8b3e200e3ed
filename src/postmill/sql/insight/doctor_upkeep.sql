-- When each round of upkeep last ran, and whether anybody is there to run it: not an HTTP worker. waited: seconds that it
-- could have been run in and was not, since it last ran or, where that is later, since the oldest of those who live began.
-- Some rounds run only when something is due, and wait since that was.
select u.name, u.last_run_at, u.last_run_by,
       extract(epoch from (select {schema}.now()) - u.last_run_at)::double precision as seconds,
       case when d.name is null or d.since is not null
            then extract(epoch from (select {schema}.now()) - greatest(u.last_run_at, f.since, d.since))::double precision
            else 0.0 end as waited,
       f.since is not null as somebody
  from {schema}.upkeep u
 cross join (select min(l.started_at) as since
               from {schema}.lease l left join {schema}.worker w on w.holder = l.holder
              where l.expires_at > (select {schema}.now()) and w.metadata ->> 'kind' is distinct from 'http') f
  left join (
    select 'promote' as name, (select s.run_at from {schema}.scheduled s order by s.run_at limit 1) as since
    union all
    select 'schedule', (select t.next_run_at from {schema}.trigger t
                         where t.trigger_type = 'schedule' and t.is_enabled and t.deleted_at is null and not t.broken
                         order by t.next_run_at limit 1)
    union all
    select 'escalate', (select min(i.escalate_at) from {schema}.incident i where i.escalate_at is not null)
    union all
    select 'operate', (select min(coalesce(o.start_at, o.created_at)) from {schema}.operation o where o.status = 'running')
    union all
    select 'archive', case when {schema}.archive_required() then timestamptz '-infinity' end
    union all
    select 'deliver', (select e.due_at from {schema}.event_delivery e where e.outcome = 'pending' order by e.due_at limit 1)
  ) d using (name)
 order by u.name
