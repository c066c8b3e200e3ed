-- postmill: safe
-- What the first pages show: what is wrong now, since when, whom it hurts and what may have caused it; what was changed; and
-- what a tenant was promised and got. From rollups, incidents and the audit log, never from jobs.

-- The value in seconds below which the share q (0 to 1) of a histogram lies, by linear interpolation within its cell as
-- Prometheus does it: the highest bound for what lies beyond, NULL for an empty histogram.
create function {schema}.quantile(hist bigint[], q double precision) returns double precision
language plpgsql immutable parallel safe as $$
begin
    return ({schema}.quantiles(hist, array[q]))[1];
end
$$;

-- The same of several shares, the smallest first, and the number of values after them: one walk for all of them.
create function {schema}.quantiles(p_hist bigint[], p_shares double precision[]) returns double precision[]
language plpgsql immutable parallel safe as $$
declare
    bounds constant double precision[] := {schema}.rollup_bounds();
    last constant integer := cardinality(bounds);
    most constant integer := cardinality(p_shares);
    found double precision[] := array_fill(null::double precision, array[cardinality(p_shares) + 1]);
    whole double precision := 0;
    below double precision := 0;
    low double precision := 0;
    next integer := 1;
    i integer := 0;
    n bigint;
begin
    if p_hist is null then
        return found;
    end if;
    foreach n in array p_hist loop
        whole := whole + coalesce(n, 0);
    end loop;
    if whole = 0 then
        return found;
    end if;
    found[most + 1] := whole;
    foreach n in array p_hist loop
        i := i + 1;
        exit when i > last;
        if n > 0 then
            while next <= most and below + n >= p_shares[next] * whole loop
                found[next] := low + (bounds[i] - low) * greatest(p_shares[next] * whole - below, 0) / n;
                next := next + 1;
            end loop;
            exit when next > most;
            below := below + n;
        end if;
        low := bounds[i];
    end loop;
    for i in next .. most loop
        found[i] := bounds[last];
    end loop;
    return found;
end
$$;

-- The sum of a column of histograms, as an expression to select, cell by cell: of hundreds of rows an aggregate over arrays
-- takes ten times as long.
create function {schema}.histogram_cells(p_column text) returns text
language plpgsql immutable parallel safe as $$
begin
    return (select format('array[%s]::bigint[]', string_agg(format('coalesce(sum(%s[%s]), 0)', p_column, i), ', '))
              from generate_series(1, cardinality({schema}.rollup_bounds()) + 1) i);
end
$$;

create index error_group_first on {schema}.error_group (first_seen_at);
create index definition_version_at on {schema}.definition_version (at);
create index tick_missed on {schema}.tick (tenant_id, fired_at) where outcome = 'skipped' and detail like 'missed%';
create index trigger_next on {schema}.trigger (tenant_id, next_run_at)
 where trigger_type = 'schedule' and is_enabled and deleted_at is null and not broken;

-- The platform in one row, from what the round monitor found. new_errors: causes of failures first seen in the last hour
-- that nobody has marked. ended: incidents of jobs given up that ended in that hour.
-- tenants: how many the live incidents affect. quiet_since: when the last breach of a queue ended (NULL: none is known of).
create function {schema}.read_now()
returns table (queues bigint, promised bigint, paused text[], breaches bigint, breach_since timestamptz, stale_workers bigint,
    missed_triggers bigint, budgets bigint, others bigint, tenants bigint, new_errors bigint, new_since timestamptz,
    quiet_since timestamptz, ended bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
    moment timestamptz := {schema}.now();
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select q.all_of_them, q.with_target, coalesce(q.paused, '{}'), i.breaches, i.since, i.workers, i.missed, i.budgets, i.others,
           (select count(distinct t.tenant_id) from {schema}.incident_part t join {schema}.incident x on x.id = t.incident_id
             where x.resolved_at is null), g.n, g.since,
           (select max(e.at) from (select (select o.resolved_at from {schema}.incident o
                                            where o.kind = 'sla_breach' and o.key = u.name and o.resolved_at is not null
                                            order by o.resolved_at desc limit 1) as at
                                     from {schema}.queue u where u.sla_seconds is not null) e),
           (select count(*) from {schema}.incident o
             where o.kind = 'job_exhausted' and o.resolved_at > moment - interval '1 hour')
      from (select count(*) as all_of_them,
                   count(*) filter (where coalesce(u.sla_seconds, u.wait_target_seconds, u.run_target_seconds) is not null) as with_target,
                   array_agg(u.name order by u.priority, u.name) filter (
                       where u.paused_at is not null and (u.resume_at is null or u.resume_at > moment)) as paused
              from {schema}.queue u) q
     cross join (select count(*) filter (where x.kind = 'sla_breach') as breaches,
                        min(x.opened_at) filter (where x.kind = 'sla_breach') as since,
                        coalesce(sum(jsonb_array_length(x.facts -> 'workers')) filter (
                            where x.kind = 'stale_workers' and jsonb_typeof(x.facts -> 'workers') = 'array'), 0) as workers,
                        count(*) filter (where x.kind = 'missed_trigger') as missed,
                        count(*) filter (where x.kind = 'budget') as budgets,
                        count(*) filter (where x.kind in ('job_exhausted', 'dead_letters', 'notification', 'error_spike', 'replica_lag')) as others
                   from {schema}.incident x where x.resolved_at is null) i
     cross join (select count(*) as n, min(y.first_seen_at) as since
                   from (select e.first_seen_at from {schema}.error_group e
                          where e.first_seen_at > moment - interval '1 hour'
                            and {schema}.error_status(e, e.first_seen_at, moment) = 'new' limit 1000) y) g;
end
$$;

-- What stands around these incidents, for the platform's people: the tenants hurt most, how often it happened in the last whole
-- minute, when it did last (of failures of one cause), and how often a minute in the same hour a week ago, who answers for it,
-- and the suspected cause, the likeliest first:
--   paused        the queue of what is late or missed is paused  ref: the queue
--   type_paused   a job type of the queue that is late is paused  ref: the type
--   was_paused    either was until shortly before, and what it held back is worked off  ref: its name
--   no_workers    nobody serves the queue                   ref: the queue
--   worker_lost   one that served it fell silent shortly before  ref: its id, holder as text
--   deploy        a definition became another version in the hour before; detail: the first new error after it
--   build         another build of the application began to run in the hour before; detail: as of a deploy
--   db_wait       statements wait for locks in the database; ref: how many
--   new_error     a cause of failures was seen for the first time
-- error_group: what it is about; of many dead letters the group that at least half of those now open are of.
-- held_kind (queue | type), held_name, held_until, held_why: what of it is paused now. letters: of many dead letters, and of jobs
-- that were given up for one cause, how many are open now.
create function {schema}.read_incident_scenes(p_ids uuid[])
returns table (id uuid, top_tenants text[], rate double precision, rate_before double precision, owner text, runbook text,
    action text, cause text, cause_at timestamptz, cause_ref text, cause_detail text, error_group text, held_kind text, held_name text,
    held_until timestamptz, held_why text, letters bigint, failed_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    moment timestamptz := {schema}.now();
    hour timestamptz := date_bin('1 hour', moment - interval '7 days', timestamptz '2000-01-01 00:00+00');
    minute timestamptz := {schema}.minute_of(moment);
    waiting bigint;
begin
    if not {schema}.sees_all() then
        return;
    end if;
    select count(*) into waiting from pg_locks l where not l.granted and l.waitstart < moment - interval '10 seconds';
    return query
    with tally as materialized (
        select y.queue, y.job_type, y.error_group, sum(y.opened - y.closed) as n from {schema}.dead_tally y group by 1, 2, 3
    )
    select i.id,
           array(select coalesce(n.slug, t.tenant_id::text) from {schema}.incident_part t
                   left join {schema}.tenant n on n.id = t.tenant_id
                  where t.incident_id = i.id order by t.jobs desc, t.tenant_id limit 3),
           {schema}.read_event_rate(i.kind, i.queue, i.job_type, minute - interval '1 minute', minute),
           {schema}.read_event_rate(i.kind, i.queue, i.job_type, hour, hour + interval '1 hour') / 60,
           q.owner, q.runbook, nullif(d.action, ''), c.cause, c.at, c.ref, c.detail,
           a.cause, h.kind, h.name, h.until, h.why,
           case i.kind when 'dead_letters' then (
                    select sum(t.n)::bigint from tally t where t.queue = i.queue or t.job_type = i.job_type)
                when 'job_exhausted' then (
                    select sum(t.n)::bigint from tally t where t.error_group = a.cause and t.job_type = i.job_type) end,
           (select e.last_seen_at from {schema}.error_group e where e.id = a.cause)
      from {schema}.incident i
     cross join lateral (select case i.kind when 'job_exhausted' then i.facts ->> 'group'
                when 'dead_letters' then (
               select g.error_group
                 from (select t.error_group, sum(t.n) as n, sum(sum(t.n)) over () as whole from tally t
                        where t.queue = i.queue or t.job_type = i.job_type group by 1) g
                where g.n > 0 and 2 * g.n >= g.whole order by g.n desc limit 1) end as cause) a
      left join {schema}.queue q on q.name = i.queue
      left join {schema}.job_definition d on d.key = i.job_type
      left join lateral (
        select x.* from (
            select 1 as rank, 'paused' as cause, q.paused_at as at, q.name as ref, q.pause_reason as detail
             where q.paused_at is not null and (q.resume_at is null or q.resume_at > moment)
               and i.kind in ('sla_breach', 'missed_trigger')
            union all
            (select 1.3, 'type_paused', p.paused_at, p.job_type, p.reason
               from {schema}.type_pause p join {schema}.job_definition t on t.key = p.job_type
              where i.kind = 'sla_breach' and t.queue = i.queue and p.ended_at is null and (p.resume_at is null or p.resume_at > moment)
              order by p.paused_at limit 1)
            union all
            (select 1.6, 'was_paused', e.at, e.name, null
               from (select coalesce(p.ended_at, p.resume_at) as at, p.job_type as name
                       from {schema}.type_pause p join {schema}.job_definition t on t.key = p.job_type
                      where t.queue = i.queue and (p.ended_at is not null or p.resume_at <= moment) and p.paused_at < i.opened_at
                     union all
                     select q.resume_at, q.name where q.paused_at < i.opened_at and q.resume_at <= moment
                     union all
                     select l.at, q.name from {schema}.audit_log l
                      where l.target_kind = 'queue' and l.target = i.queue and l.action = 'queues.resume'
                        and l.at between i.opened_at - interval '1 hour' and moment) e
              where i.kind = 'sla_breach' and e.at > i.opened_at - interval '1 hour' order by e.at desc limit 1)
            union all
            select 2, 'no_workers', null, q.name, null
             where q.name is not null and i.kind in ('sla_breach', 'missed_trigger')
               and not exists (select from {schema}.worker w join {schema}.lease l on l.holder = w.holder
                                where l.expires_at > moment and q.name = any (w.queues))
            union all
            (select case when i.kind = 'sla_breach' then 3 else 5 end, 'worker_lost', w.last_seen_at, w.worker_id, w.holder::text
               from {schema}.worker w
              where w.last_seen_at between i.opened_at - interval '15 minutes' and i.opened_at + interval '5 minutes'
                and i.queue = any (w.queues) and i.kind <> 'stale_workers'
                and (w.stopped_at is null or w.stopped_at = w.last_seen_at)
                and not exists (select from {schema}.lease l where l.holder = w.holder and l.expires_at > moment)
              order by w.last_seen_at limit 1)
            union all
            (select 4, 'deploy', v.at, f.key || ' v' || v.version,
                    (select g.error_class from {schema}.error_group g
                      where g.job_type = f.key and g.first_seen_at between v.at and i.opened_at + interval '10 minutes'
                      order by g.first_seen_at limit 1)
               from {schema}.definition_version v join {schema}.job_definition f on f.id = v.definition_id
              where v.at between i.opened_at - interval '1 hour' and i.opened_at + interval '1 minute' and v.version > 1
                and (f.key = i.job_type or (i.job_type is null and f.queue = i.queue))
              order by v.at desc limit 1)
            union all
            (select 4.5, 'build', b.at, b.build,
                    (select g.error_class from {schema}.error_group g
                      where g.job_type = any (w.job_types) and (i.job_type is null or g.job_type = i.job_type)
                        and g.first_seen_at between b.at and i.opened_at + interval '10 minutes'
                      order by g.first_seen_at limit 1)
               from {schema}.read_builds(i.opened_at - interval '1 hour', i.job_type, 20) b join {schema}.worker w on w.holder = b.holder
              where b.at <= i.opened_at + interval '1 minute' and (i.job_type is not null or i.queue = any (w.queues))
                and exists (select from {schema}.worker o where o.build <> b.build and o.started_at < b.at)
              order by b.at desc limit 1)
            union all
            select 6, 'db_wait', null, waiting::text, null where waiting > 0 and i.kind in ('sla_breach', 'job_exhausted', 'dead_letters')
            union all
            (select 7, 'new_error', g.first_seen_at, g.id, g.error_class from {schema}.error_group g
              where i.job_type is not null and g.job_type = i.job_type
                and g.first_seen_at between i.opened_at - interval '1 hour' and i.opened_at + interval '10 minutes'
              order by g.first_seen_at desc limit 1)) x
         order by x.rank limit 1) c on true
      left join lateral (
        select 'queue' as kind, q.name, q.resume_at as until, q.pause_reason as why
         where q.paused_at is not null and (q.resume_at is null or q.resume_at > moment)
        union all
        select 'type', p.job_type, p.resume_at, p.reason
          from {schema}.type_pause p left join {schema}.job_definition t on t.key = p.job_type
         where p.ended_at is null and (p.resume_at is null or p.resume_at > moment)
           and (p.job_type = i.job_type or (i.job_type is null and t.queue = i.queue))
         limit 1) h on true
     where i.id = any (p_ids);
end
$$;

-- How many events of an incident's kind there were: of what failed, its failures; of what is late, its ends.
create function {schema}.read_event_rate(p_kind text, p_queue text, p_job_type text, p_since timestamptz, p_until timestamptz)
returns double precision
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
    counted text[] := case when p_kind = 'sla_breach' then array['succeeded', 'failed', 'dead_letter', 'canceled']
                           when p_kind in ('job_exhausted', 'dead_letters') then array['retried', 'lost', 'failed', 'dead_letter'] end;
begin
    if p_queue is null or counted is null then
        return null;
    end if;
    return (select coalesce(sum(r.n), 0)::double precision from {schema}.fleet_rollups r
             where r.queue = p_queue and r.minute >= p_since and r.minute < p_until and r.outcome = any (counted)
               and (p_job_type is null or r.job_type = p_job_type));
end
$$;

-- What people and deploys changed since a moment, the latest first; of the audit log at most p_look rows are looked at.
-- kind: deploy (a version of a definition), build (of the application; build_again: one that ran before), worker_loss, or the
-- action of the audit log. reason: of a bulk operation that ended its figures, as `done/total/skipped/failed`.
create function {schema}.read_changes(p_since timestamptz, p_most integer default 50, p_look integer default 2000)
returns table (at timestamptz, kind text, target text, actor text, via text, reason text, ref text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    moment timestamptz := {schema}.now();
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select x.* from (
        (select v.at, 'deploy', d.key || ' v' || v.version, coalesce(v.actor_id, v.actor_type), v.via, null::text, d.key
           from {schema}.definition_version v join {schema}.job_definition d on d.id = v.definition_id
          where v.at >= p_since order by v.at desc limit p_most)
        union all
        (select b.at, case when b.again then 'build_again' else 'build' end, b.build, null, null, null, b.holder::text
           from {schema}.read_builds(p_since, null, p_most) b)
        union all
        (select w.last_seen_at, 'worker_loss', w.worker_id, null, null, null, w.holder::text
           from {schema}.worker w
          where w.last_seen_at >= p_since and (w.stopped_at is null or w.stopped_at = w.last_seen_at)
            and not exists (select from {schema}.lease l where l.holder = w.holder and l.expires_at > moment)
          order by w.last_seen_at desc limit p_most)
        union all
        (select l.at, l.action, l.target, coalesce(l.actor_id, l.actor_type), l.via,
                case when l.action = 'operations.finish'
                     then concat_ws('/', l.after ->> 'done', l.after ->> 'total', l.after ->> 'skipped', l.after ->> 'failed')
                     else l.reason end, l.id::text
           from (select a.* from {schema}.audit_log a where a.at >= p_since order by a.at desc, a.id desc limit p_look) l
          where l.result = 'done' and (l.action in ('queues.pause', 'queues.resume', 'queues.move', 'queues.boost', 'dead.discard',
                    'logins.open', 'keys.create', 'keys.revoke', 'projects.create', 'errors.ignore', 'errors.resolve', 'errors.reopen')
                or l.action ~ '^(budgets|operations|tenants|triggers|types|workers|retention|incidents|limits|webhooks)\.')
          order by l.at desc, l.id desc limit p_most)) x
     order by 1 desc, 2, 7 limit p_most;
end
$$;

-- Of each job type and queue between two moments within the scope: how many were made, ended and failed, and the share that
-- was done in the time that the queue promises (NULL: it promises none, or none ended): what failed or was given up was not.
create function {schema}.read_attainment(p_since timestamptz, p_until timestamptz)
returns table (job_type text, queue text, sla_seconds double precision, enqueued bigint, ended bigint, failed bigint,
    attained double precision, p95 double precision)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    own constant uuid := {schema}.scope_tenant();
begin
    return query execute format($q$
        select s.job_type, s.queue, q.sla_seconds, s.enqueued::bigint, s.ended::bigint, s.failed::bigint,
               {schema}.attained(s.done, s.ended, q.sla_seconds),
               {schema}.quantile(s.hist, 0.95)
          from (select o.job_type, o.queue, coalesce(sum(o.n) filter (where o.outcome = 'enqueued'), 0) as enqueued,
                       coalesce(sum(o.n) filter (where o.outcome in ('succeeded', 'failed', 'dead_letter')), 0) as ended,
                       coalesce(sum(o.n) filter (where o.outcome in ('failed', 'dead_letter')), 0) as failed,
                       {schema}.histogram_sum(o.hist) as hist,
                       {schema}.histogram_sum(o.hist) filter (where o.outcome = 'succeeded') as done
                  from (select r.job_type, r.queue, r.outcome, sum(r.n) as n, %s as hist
                          from %s r
                         where r.minute >= {schema}.minute_of($1) and r.minute < $2 and ($3 is null or r.tenant_id = $3)
                         group by 1, 2, 3) o
                 group by 1, 2) s
          left join {schema}.queue q on q.name = s.queue
         order by 7 nulls last, 6 desc, 1, 2$q$, {schema}.histogram_cells('r.total_hist'),
        {schema}.rollup_source(p_since, p_until, own is null, null))
    using p_since, p_until, own;
end
$$;

-- How queues stand, for anybody who uses them; nothing of who else does. state: paused | no_workers | late | ok.
create function {schema}.read_queue_standing(p_queues text[])
returns table (name text, state text, since timestamptz, sla_seconds double precision, p95 double precision)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
begin
    return query
    select q.name,
           case when q.paused_at is not null and (q.resume_at is null or q.resume_at > moment) then 'paused'
                when not exists (select from {schema}.worker w join {schema}.lease l on l.holder = w.holder
                                  where l.expires_at > moment and q.name = any (w.queues)) then 'no_workers'
                when (a.n >= 5 and (a.total_p95 > q.sla_seconds or a.attained_now < 0.95 or a.wait_p95 > q.wait_target_seconds
                                    or a.run_p95 > q.run_target_seconds)) or a.oldest_seconds > q.sla_seconds then 'late'
                else 'ok' end,
           case when q.resume_at is null or q.resume_at > moment then q.paused_at end, q.sla_seconds, a.total_p95
      from {schema}.queue q
      left join {schema}.attainment a on a.queue = q.name and a.measured_at > moment - interval '5 minutes'
     where q.name = any (p_queues)
     order by q.priority, q.name;
end
$$;

-- The next runs of schedules within the scope, the soonest first.
create function {schema}.read_next_runs(p_most integer default 5)
returns table (id uuid, label text, job_type text, queue text, next_run_at timestamptz, last_run_at timestamptz, paused boolean)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    own constant uuid := {schema}.scope_tenant();
begin
    return query
    select t.id, t.label, d.key, d.queue, t.next_run_at, t.last_run_at,
           q.paused_at is not null and (q.resume_at is null or q.resume_at > (select {schema}.now()))
      from (select x.* from {schema}.trigger x
             where x.trigger_type = 'schedule' and x.is_enabled and x.deleted_at is null and not x.broken
               and x.next_run_at is not null and (own is null or x.tenant_id = own)
             order by x.next_run_at limit p_most) t
      join {schema}.job_definition d on d.id = t.definition_id
      left join {schema}.queue q on q.name = d.queue
     order by t.next_run_at, t.id;
end
$$;

-- The latest tick that was left out because nobody was there, within the scope; and schedules that cannot run at all.
create function {schema}.read_last_missed()
returns table (id uuid, label text, due timestamptz, fired_at timestamptz, detail text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    own constant uuid := {schema}.scope_tenant();
begin
    return query
    select t.id, t.label, k.due, k.fired_at, k.detail
      from (select x.* from {schema}.tick x
             where x.outcome = 'skipped' and x.detail like 'missed%' and (own is null or x.tenant_id = own)
             order by x.fired_at desc limit 1) k
      join {schema}.trigger t on t.id = k.trigger_id;
end
$$;
