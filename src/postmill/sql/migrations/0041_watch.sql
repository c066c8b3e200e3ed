-- postmill: safe
-- What the round monitor looks at: which queues are late, who is silent, what did not run.

-- How the queues with a target stand, as the round monitor found it last: the P95 of the last ten minutes of each of the three
-- times, the share of the last hour that was done within the target of the total, the burn (1: exactly the five percent that may
-- be late), and the share of those ten minutes. A job that failed for good or was given up is not done, however soon that was
-- known: it counts as late, and goes on to do so when a replay, which is a job of its own, has done its work since.
create table {schema}.attainment (
    queue text collate "C" primary key references {schema}.queue (name) on delete cascade,
    measured_at timestamptz not null,
    n bigint not null,
    total_p95 double precision,
    wait_p95 double precision,
    run_p95 double precision,
    oldest_seconds double precision,
    attained double precision,
    burn double precision,
    attained_now double precision,
    -- The same of the last day.
    attained_day double precision,
    burn_day double precision
);
create index rollup_queue on {schema}.rollup (queue, minute);

create function {schema}.measure_slas() returns void
language plpgsql volatile set plan_cache_mode = force_custom_plan as $$
declare
    moment timestamptz := {schema}.now();
begin
    delete from {schema}.attainment a using {schema}.queue q
     where q.name = a.queue and coalesce(q.sla_seconds, q.wait_target_seconds, q.run_target_seconds) is null;
    insert into {schema}.attainment as a (queue, measured_at, n, total_p95, wait_p95, run_p95, oldest_seconds, attained, burn, attained_now)
    select q.name, moment, coalesce(r.n, 0), {schema}.quantile(r.total, 0.95), {schema}.quantile(r.wait, 0.95),
           {schema}.quantile(r.run, 0.95), extract(epoch from moment - {schema}.read_oldest(q.name, null))::double precision,
           h.share, (1 - h.share) / 0.05, {schema}.attained(r.done, r.n, q.sla_seconds)
      from {schema}.queue q
     cross join lateral (
        select sum(x.n) filter (where x.total_hist is not null) as n, {schema}.histogram_sum(x.total_hist) as total,
               {schema}.histogram_sum(x.total_hist) filter (where x.outcome = 'succeeded') as done,
               {schema}.histogram_sum(x.wait_hist) as wait, {schema}.histogram_sum(x.run_hist) as run
          from {schema}.fleet_rollups x
         where x.queue = q.name and x.minute > moment - interval '10 minutes') r
     cross join lateral (
        select {schema}.attained({schema}.histogram_sum(x.total_hist) filter (where x.outcome = 'succeeded'), sum(x.n), q.sla_seconds)
               as share from {schema}.fleet_rollups x
         where x.queue = q.name and x.minute > moment - interval '1 hour' and x.total_hist is not null) h
     where coalesce(q.sla_seconds, q.wait_target_seconds, q.run_target_seconds) is not null
    on conflict (queue) do update
       set measured_at = excluded.measured_at, n = excluded.n, total_p95 = excluded.total_p95, wait_p95 = excluded.wait_p95,
           run_p95 = excluded.run_p95, oldest_seconds = excluded.oldest_seconds, attained = excluded.attained, burn = excluded.burn,
           attained_now = excluded.attained_now;
end
$$;

-- The share of so many jobs that were done in time; p_done: how long those took that succeeded. NULL: none ended, or there is
-- no target.
create function {schema}.attained(p_done bigint[], p_judged numeric, p_seconds double precision) returns double precision
language plpgsql immutable parallel safe as $$
begin
    return case when p_seconds is not null then {schema}.histogram_within(p_done, p_seconds) / nullif(p_judged, 0) end;
end
$$;

-- A queue is in breach where the P95 of its last ten minutes is beyond a target (five jobs at least: one late job is none), more
-- than five percent of them were late or given up,
-- or its oldest job has been ready for longer than the whole, or the wait, may take: what starves ends nowhere and has no P95.
create function {schema}.watch_slas() returns void
language plpgsql volatile as $$
declare
    q record;
    keys text[] := '{}';
    why text;
begin
    perform {schema}.measure_slas();
    for q in
        select a.*, u.sla_seconds, u.wait_target_seconds, u.run_target_seconds, u.owner, u.contact
          from {schema}.attainment a join {schema}.queue u on u.name = a.queue order by a.queue
    loop
        why := case when q.n >= 5 and q.total_p95 > q.sla_seconds then format('P95 of the total is %s, target %s', {schema}.lasting(q.total_p95), {schema}.lasting(q.sla_seconds))
                    when q.n >= 5 and q.attained_now < 0.95 then format('%s %% were done within the target of %s, the others late or given up', round(100 * q.attained_now::numeric, 1), {schema}.lasting(q.sla_seconds))
                    when q.oldest_seconds > q.sla_seconds then format('the oldest job waits for %s, target %s', {schema}.lasting(q.oldest_seconds), {schema}.lasting(q.sla_seconds))
                    when q.n >= 5 and q.wait_p95 > q.wait_target_seconds then format('P95 of the wait is %s, target %s', {schema}.lasting(q.wait_p95), {schema}.lasting(q.wait_target_seconds))
                    when q.oldest_seconds > q.wait_target_seconds then format('the oldest job waits for %s, target of the wait %s', {schema}.lasting(q.oldest_seconds), {schema}.lasting(q.wait_target_seconds))
                    when q.n >= 5 and q.run_p95 > q.run_target_seconds then format('P95 of the run is %s, target %s', {schema}.lasting(q.run_p95), {schema}.lasting(q.run_target_seconds)) end;
        continue when why is null;
        keys := keys || q.queue;
        perform {schema}.hold_incident('sla_breach', q.queue, 'warning', 'queue ' || q.queue || ' is late: ' || why,
            jsonb_strip_nulls(to_jsonb(q) - 'queue' - 'measured_at'), null, q.queue, null);
        insert into {schema}.incident_part as t (incident_id, tenant_id, jobs, first_at, last_at)
        select i.id, r.tenant_id, max(r.n), {schema}.now(), {schema}.now()
          from {schema}.incident i
          join (select x.tenant_id, round(sum(x.n) - coalesce(sum({schema}.histogram_within(x.total_hist, q.sla_seconds)) filter (where x.outcome = 'succeeded'), 0))::bigint as n
                  from {schema}.rollups x
                 where x.queue = q.queue and x.total_hist is not null and x.minute > (select {schema}.now()) - interval '10 minutes'
                 group by 1) r on r.n > 0
         where i.kind = 'sla_breach' and i.key = q.queue and i.resolved_at is null
         group by 1, 2
        on conflict (incident_id, tenant_id) do update set jobs = greatest(t.jobs, excluded.jobs), last_at = excluded.last_at;
    end loop;
    perform {schema}.end_others('sla_breach', '', keys);
end
$$;

create function {schema}.lasting(p_seconds double precision) returns text
language plpgsql immutable parallel safe as $$
begin
    return case when p_seconds < 120 then round(p_seconds::numeric, 1) || ' s'
                when p_seconds < 7200 then round(p_seconds::numeric / 60, 1) || ' min' else round(p_seconds::numeric / 3600, 1) || ' h' end;
end
$$;

-- Workers whose lease ended without their saying so, in the last day, while none that started later serves their queues. A
-- clean end leaves another moment in stopped_at than the last sign of life.
create function {schema}.watch_workers() returns void
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
    found_some jsonb;
begin
    select jsonb_agg(jsonb_build_object('worker_id', w.worker_id, 'hostname', w.hostname, 'last_seen_at', w.last_seen_at,
                                        'queues', w.queues) order by w.last_seen_at)
      into found_some
      from {schema}.worker w
     where w.last_seen_at > moment - interval '1 day' and (w.stopped_at is null or w.stopped_at = w.last_seen_at)
       and not exists (select from {schema}.lease l where l.holder = w.holder and l.expires_at > moment)
       and not exists (select from {schema}.worker v join {schema}.lease l on l.holder = v.holder
                        where v.started_at > w.last_seen_at and v.queues && w.queues and l.expires_at > moment);
    if found_some is null then
        perform {schema}.end_others('stale_workers', '', null);
        return;
    end if;
    perform {schema}.hold_incident('stale_workers', 'fleet', 'critical',
        format('%s worker%s silent and not replaced', jsonb_array_length(found_some),
               case when jsonb_array_length(found_some) = 1 then ' is' else 's are' end),
        jsonb_build_object('workers', found_some), null, found_some -> 0 -> 'queues' ->> 0, null);
end
$$;

-- Schedules that did not run when they were due: two minutes late by now, broken, failing, or ticks that were left out in the
-- last quarter of an hour because nobody was there.
create function {schema}.watch_triggers() returns void
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
    one record;
    keys text[] := '{}';
begin
    for one in
        with late as (
            select t.id, 'is due since ' || to_char(t.next_run_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC' as why
              from {schema}.trigger t
             where t.trigger_type = 'schedule' and t.is_enabled and t.deleted_at is null and not t.broken
               and t.next_run_at < moment - interval '2 minutes'
            union all
            select t.id, 'cannot run: ' || coalesce(t.error, 'its schedule is broken')
              from {schema}.trigger t
             where t.trigger_type = 'schedule' and t.is_enabled and t.deleted_at is null and (t.broken or t.error is not null)
            union all
            select k.trigger_id, format('left out %s tick%s', sum(k.ticks), case when sum(k.ticks) = 1 then '' else 's' end)
              from {schema}.tick k
             where k.fired_at > moment - interval '15 minutes' and k.outcome = 'skipped' and k.detail like 'missed%'
             group by k.trigger_id
        )
        select t.id, t.tenant_id, t.label, d.key as job_type, d.queue, string_agg(l.why, '; ') as why
          from late l
          join {schema}.trigger t on t.id = l.id
          join {schema}.job_definition d on d.id = t.definition_id
         group by 1, 2, 3, 4, 5 order by t.id
    loop
        keys := keys || one.id::text;
        perform {schema}.hold_incident('missed_trigger', one.id::text, 'warning', 'schedule ' || one.label || ' ' || left(one.why, 300),
            jsonb_build_object('trigger_id', one.id, 'label', one.label, 'why', one.why), one.tenant_id, one.queue, one.job_type);
    end loop;
    perform {schema}.end_others('missed_trigger', '', keys);
end
$$;

-- A cause of failures spikes that failed at least fifty times in ten minutes, and five times as often as in ten minutes of the day
-- before; half of either keeps it one. It is told before jobs are given up, while they are tried again; once some are, their own
-- incident says more, and this one is over.
create function {schema}.watch_errors() returns void
language plpgsql volatile set plan_cache_mode = force_custom_plan as $$
declare
    everybody constant uuid := '00000000-0000-0000-0000-000000000000';
    moment timestamptz := {schema}.now();
    edge timestamptz := moment - interval '10 minutes';
    one record;
    keys text[] := '{}';
begin
    for one in
        select g.id, g.job_type, g.error_class, g.message, d.queue, r.n, b.usual
          from (select m.id, sum(m.n) as n from {schema}.error_group_minute m
                 where m.minute > edge and not m.hourly and m.tenant_id = everybody group by m.id having sum(m.n) >= 25) r
          join {schema}.error_group g on g.id = r.id
          left join {schema}.job_definition d on d.key = g.job_type
         cross join lateral (select coalesce(sum(m.n), 0) / 143 as usual from {schema}.error_group_minute m
                              where m.id = g.id and m.tenant_id = everybody and m.minute <= edge
                                and m.minute > moment - interval '1 day') b
         cross join lateral (select case when exists (select from {schema}.incident i where i.kind = 'error_spike' and i.key = g.id
                                                         and i.resolved_at is null) then 0.5 else 1 end as part) h
         where r.n >= h.part * 50 and r.n >= h.part * 5 * b.usual and (g.ignored_until is null or g.ignored_until <= moment)
           and not exists (select from {schema}.incident i where i.kind = 'job_exhausted' and i.resolved_at is null
                              and i.facts ->> 'group' = g.id)
         order by g.id
    loop
        keys := keys || one.id;
        perform {schema}.hold_incident('error_spike', one.id, 'warning',
            format('%s fails %s times in ten minutes: %s: %s', one.job_type, one.n, one.error_class, one.message),
            jsonb_build_object('group', one.id, 'failures', one.n, 'usual', round(one.usual, 1)), null, one.queue, one.job_type);
        insert into {schema}.incident_part as t (incident_id, tenant_id, jobs, first_at, last_at)
        select i.id, m.tenant_id, sum(m.n), moment, moment
          from {schema}.incident i join {schema}.error_group_minute m on m.id = i.key
         where i.kind = 'error_spike' and i.key = one.id and i.resolved_at is null
           and m.minute > edge and not m.hourly and m.tenant_id <> everybody
         group by 1, 2
        on conflict (incident_id, tenant_id) do update set jobs = greatest(t.jobs, excluded.jobs), last_at = excluded.last_at;
    end loop;
    perform {schema}.end_others('error_spike', '', keys);
end
$$;

-- Standby servers that are more than a minute behind: what a failover would lose, where it is not waited for. NULL lengths are
-- of those that this role may not see.
create function {schema}.watch_followers() returns void
language plpgsql volatile as $$
declare
    one record;
    keys text[] := '{}';
begin
    for one in
        select coalesce(nullif(s.application_name, ''), 'standby') as name, max(extract(epoch from s.replay_lag))::double precision as seconds
          from pg_stat_replication s where s.replay_lag > interval '1 minute' group by 1 order by 1
    loop
        keys := keys || one.name;
        perform {schema}.hold_incident('replica_lag', one.name, 'warning',
            format('%s is %s behind', one.name, {schema}.lasting(one.seconds)), jsonb_build_object('seconds', one.seconds), null, null, null);
    end loop;
    perform {schema}.end_others('replica_lag', '', keys);
end
$$;

-- Incidents of jobs given up are over when none of their jobs is a dead letter any more. The first hundred are remembered;
-- where those are gone, the next ones of the group take their place.
create function {schema}.watch_exhausted() returns void
language plpgsql volatile as $$
declare
    one record;
begin
    for one in
        select i.id, i.kind, i.key, i.job_type, i.jobs, i.facts ->> 'group' as cause from {schema}.incident i
         where i.kind in ('job_exhausted', 'budget') and i.resolved_at is null and i.jobs > 0
           and not exists (select from {schema}.incident_job j join {schema}.dead_letter d on d.id = j.job_id
                            where j.incident_id = i.id)
         order by i.key
    loop
        if one.jobs > 100 then
            insert into {schema}.incident_job (incident_id, job_id, tenant_id, at)
            select one.id, d.id, d.tenant_id, d.failed_at from {schema}.dead_letter d
             where coalesce(d.error_group, d.error_class, d.reason) = one.cause
               and exists (select from {schema}.any_job b where b.id = d.id and b.job_type = one.job_type)
             limit 100 on conflict do nothing;
            continue when found;
        end if;
        perform {schema}.resolve_incident(one.kind, one.key);
    end loop;
end
$$;

-- One round, after monitor has counted.
create function {schema}.watch() returns void
language plpgsql volatile as $$
begin
    while {schema}.count_dead_letters(5000) >= 5000 loop
    end loop;
    perform {schema}.watch_exhausted();
    perform {schema}.watch_slas();
    perform {schema}.note_queues();
    perform {schema}.watch_workers();
    perform {schema}.watch_triggers();
    perform {schema}.watch_errors();
    perform {schema}.watch_followers();
    delete from {schema}.incident_over o where o.at < (select {schema}.now()) - interval '1 day';
    -- With their notifications and jobs.
    delete from {schema}.incident i where i.id = any (array(
        select o.id from {schema}.incident o
         where o.resolved_at < (select {schema}.now()) - (select {schema}.keep_of('incidents')) limit 1000));
end
$$;

-- Queues as settings and code declare them: [{name, owner, contact, color, sla_seconds, wait_target_seconds,
-- run_target_seconds, escalation, runbook, dead_letters_as, priority, boost_after_seconds, boost_step, boost_to}]. What is not in a declaration is none;
-- one that says nothing makes no queue. p_fill: only where nothing is said of a queue yet.
create function {schema}.register_queues(p_queues jsonb, p_fill boolean default false) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    before jsonb := (select jsonb_object_agg(q.name, {schema}.promise_json(q.name)) from {schema}.queue q);
    one text;
    limits jsonb;
begin
    insert into {schema}.queue (name) select e.q ->> 'name' from jsonb_array_elements(p_queues) as e(q)
     where jsonb_array_length(nullif(e.q -> 'limits', 'null')) > 0 order by 1 on conflict do nothing;
    insert into {schema}.queue as q (name, owner, contact, color, sla_seconds, wait_target_seconds, run_target_seconds, escalation,
           runbook, dead_letters_as, priority, boost_after_seconds, boost_step, boost_to)
    select n.name, n.owner, n.contact, n.color, n.sla_seconds, n.wait_target_seconds, n.run_target_seconds, n.escalation, n.runbook,
           n.dead_letters_as, coalesce(n.priority, 100), n.boost_after_seconds, n.boost_step, n.boost_to
      from jsonb_populate_recordset(null::{schema}.queue, p_queues) n
     where coalesce(n.owner, n.contact, n.color, n.escalation, n.runbook, n.dead_letters_as, n.sla_seconds::text,
                    n.wait_target_seconds::text, n.run_target_seconds::text, n.priority::text, n.boost_after_seconds::text) is not null
        or exists (select from {schema}.queue o where o.name = n.name)
     order by n.name
    on conflict (name) do update
       set owner = excluded.owner, contact = excluded.contact, color = excluded.color, sla_seconds = excluded.sla_seconds,
           wait_target_seconds = excluded.wait_target_seconds, run_target_seconds = excluded.run_target_seconds,
           escalation = excluded.escalation, runbook = excluded.runbook, dead_letters_as = excluded.dead_letters_as,
           priority = excluded.priority,
           boost_after_seconds = excluded.boost_after_seconds, boost_step = excluded.boost_step, boost_to = excluded.boost_to
     where (q.owner, q.contact, q.color, q.sla_seconds, q.wait_target_seconds, q.run_target_seconds, q.escalation,
            q.runbook, q.dead_letters_as, q.priority, q.boost_after_seconds, q.boost_step, q.boost_to)
           is distinct from (excluded.owner, excluded.contact, excluded.color, excluded.sla_seconds,
                             excluded.wait_target_seconds, excluded.run_target_seconds, excluded.escalation, excluded.runbook,
                             excluded.dead_letters_as, excluded.priority, excluded.boost_after_seconds, excluded.boost_step,
                             excluded.boost_to)
       and not (p_fill and coalesce(q.owner, q.contact, q.color, q.escalation, q.runbook, q.dead_letters_as, q.sla_seconds::text,
                                    q.wait_target_seconds::text, q.run_target_seconds::text, nullif(q.priority, 100)::text,
                                    q.boost_after_seconds::text) is not null);
    for one, limits in select e.q ->> 'name', e.q -> 'limits' from jsonb_array_elements(p_queues) as e(q)
                        where jsonb_typeof(e.q -> 'limits') = 'array' order by 1 loop
        if not p_fill and exists (select from {schema}.queue q where q.name = one) then
            perform {schema}.declare_limits('queue', one, limits);
        end if;
    end loop;
    for one in select n.name from jsonb_populate_recordset(null::{schema}.queue, p_queues) n order by n.name loop
        if {schema}.promise_json(one) is distinct from before -> one then
            perform {schema}.audit('queues.declare', 'queue', one, null, before -> one, {schema}.promise_json(one));
        end if;
    end loop;
end
$$;

-- What is promised of a queue, and who answers for it. NULL: there is no such queue.
create function {schema}.promise_json(p_queue text) returns jsonb
language plpgsql stable as $$
begin
    return (select jsonb_build_object('owner', q.owner, 'contact', q.contact, 'color', q.color, 'sla_seconds', q.sla_seconds,
                       'wait_target_seconds', q.wait_target_seconds, 'run_target_seconds', q.run_target_seconds,
                       'escalation', q.escalation, 'runbook', q.runbook, 'dead_letters_as', q.dead_letters_as, 'priority', q.priority, 'boost_after_seconds', q.boost_after_seconds,
                       'boost_step', q.boost_step, 'boost_to', q.boost_to) from {schema}.queue q where q.name = p_queue);
end
$$;
