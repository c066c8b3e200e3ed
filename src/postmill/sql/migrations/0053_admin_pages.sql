-- postmill: safe
-- What the pages of triggers, definitions, audit and access read and do beside what was there.

-- Where triggers stand beside their own rows: what they make, whether that can run, and how their last job does. served:
-- whether a live worker runs the type; NULL to a tenant.
create function {schema}.read_trigger_standing(p_ids uuid[])
returns table (trigger_id uuid, tenant_slug text, queue text, owner text, is_active boolean, paused boolean, pause_reason text,
    resume_at timestamptz, served boolean, missed bigint, last_missed timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment constant timestamptz := {schema}.now();
    whole constant boolean := {schema}.sees_all();
begin
    return query
    select t.id, n.slug, q.name, q.owner, d.is_active, q.paused_at is not null and (q.resume_at is null or q.resume_at > moment),
           q.pause_reason, q.resume_at,
           case when whole then exists (
                select from {schema}.worker k join {schema}.lease e on e.holder = k.holder
                 where e.expires_at > moment and k.job_types && (array[d.key] || d.aliases)) end,
           m.n, m.last
      from unnest(p_ids) as u(id)
     cross join lateral (select x.* from {schema}.trigger x where x.id = u.id and x.deleted_at is null offset 0) t
      join {schema}.tenant n on n.id = t.tenant_id
      join {schema}.job_definition d on d.id = t.definition_id
      join {schema}.queue q on q.name = d.queue
     cross join lateral (
        select coalesce(sum(r.ticks) filter (where r.detail like 'missed%'), 0)::bigint as n,
               max(r.due) filter (where r.detail like 'missed%') as last
          from (select k.due, k.detail, k.ticks from {schema}.tick k
                 where k.trigger_id = t.id and k.due >= moment - interval '7 days' order by k.due desc limit 200) r) m;
end
$$;

-- The last runs of triggers, the newest first: ticks, or events that they met. state: of the job that came of it, NULL where
-- there is none or it is kept no more.
create function {schema}.read_trigger_runs(p_ids uuid[], p_most integer)
returns table (trigger_id uuid, at timestamptz, outcome text, detail text, job_id uuid, ticks integer, state text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select u.id, r.at, r.outcome, r.detail, r.job_id, r.ticks,
           case when r.job_id is null then null
                when exists (select from {schema}.dead_letter x where x.id = r.job_id offset 0) then 'dead_letter'
                when exists (select from {schema}.running x where x.id = r.job_id offset 0) then 'running'
                when exists (select from {schema}.ready x where x.id = r.job_id offset 0) then 'queued'
                when exists (select from {schema}.scheduled x where x.id = r.job_id offset 0) then 'scheduled'
                when exists (select from {schema}.blocked x where x.id = r.job_id offset 0) then 'blocked'
                else (select x.status from {schema}.outcome x where x.job_id = r.job_id limit 1) end
      from unnest(p_ids) as u(id)
     cross join lateral (
        select y.* from (
            (select k.due as at, k.outcome, k.detail, k.job_id, k.ticks from {schema}.tick k
              where k.trigger_id = u.id order by k.due desc limit p_most)
            union all
            (select {schema}.id_time(e.event_id), e.outcome, e.detail, e.job_id, 1 from {schema}.event_delivery e
              where e.trigger_id = u.id order by e.event_id desc limit p_most)) y
         order by y.at desc limit p_most) r
     order by u.id, r.at desc;
end
$$;

-- Which due moments of a window made a job already: a backfill leaves them out.
create function {schema}.read_ticks_within(p_trigger uuid, p_since timestamptz, p_until timestamptz, p_most integer)
returns table (due timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select k.due from {schema}.tick k
     where k.trigger_id = p_trigger and k.due >= p_since and k.due < p_until and k.job_id is not null
     order by k.due limit p_most;
end
$$;

-- Makes up for due moments of a schedule that made no job, in the order given; one that has made one meanwhile is left
-- as it is. p_ticks: due, next (the due moment after it), payload, key, and outcome with detail where there is no payload.
-- Outcomes: as of ticks, and kept (it had made a job), pending (somebody holds its key), unknown (no such trigger; one row).
create function {schema}.door_backfill_trigger(p_id uuid, p_ticks jsonb, p_reason text default null,
    p_actor_type text default null, p_actor_id text default null)
returns table (due timestamptz, outcome text, detail text, job_id uuid)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment constant timestamptz := {schema}.now();
    own {schema}.trigger;
    item record;
    old {schema}.tick;
    told jsonb := '{}';
    origin text;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    select t.* into own from {schema}.trigger t where t.id = p_id and t.deleted_at is null for no key update;
    if own.id is null or not {schema}.in_scope(own.tenant_id) then
        outcome := 'unknown';
        return next;
        return;
    end if;
    origin := coalesce(nullif(current_setting('postmill.request_id', true), ''), own.id::text);
    perform set_config('lock_timeout', '5s', true);
    for item in
        select x.* from jsonb_to_recordset(p_ticks) as x(due timestamptz, next timestamptz, payload jsonb, key text, outcome text,
            detail text)
         order by x.due
    loop
        due := item.due; outcome := item.outcome; detail := item.detail; job_id := null;
        select k.* into old from {schema}.tick k where k.trigger_id = own.id and k.due = item.due;
        if old.job_id is not null then
            outcome := 'kept'; detail := null; job_id := old.job_id;
        elsif outcome is null then
            select j.job_id, j.outcome, j.detail into job_id, outcome, detail
              from {schema}.trigger_job(own, item.payload, null, item.key, item.due, 'schedule', own.id::text, null, origin, origin,
                  null, {schema}.acting_type(), {schema}.acting_id()) j;
        end if;
        told := told || jsonb_build_object(outcome, coalesce((told ->> outcome)::integer, 0) + 1);
        if outcome in ('kept', 'pending') then
            return next;
            continue;
        end if;
        insert into {schema}.tick as k (trigger_id, due, tenant_id, outcome, detail, job_id, fired_at)
        values (own.id, item.due, own.tenant_id, outcome, coalesce(detail, 'backfilled'), job_id, moment)
        on conflict on constraint tick_pkey do update
           set outcome = excluded.outcome, detail = excluded.detail, job_id = excluded.job_id, fired_at = moment, last_due = null,
               ticks = 1;
        -- Of several that were left out together, the others stay left out.
        if old.last_due >= item.next then
            insert into {schema}.tick (trigger_id, due, tenant_id, outcome, detail, fired_at, last_due, ticks)
            values (own.id, item.next, own.tenant_id, old.outcome, old.detail, old.fired_at,
                    nullif(old.last_due, item.next), greatest(old.ticks - 1, 1))
            on conflict do nothing;
        end if;
        return next;
    end loop;
    perform {schema}.audit('triggers.backfill', 'trigger', own.id::text, own.tenant_id, null,
        told || jsonb_build_object('since', (select min(x.due) from jsonb_to_recordset(p_ticks) as x(due timestamptz)),
                                   'until', (select max(x.due) from jsonb_to_recordset(p_ticks) as x(due timestamptz))),
        p_reason);
end
$$;

-- Where definitions are at home: whose queue, what it promises, whether it is paused, and the budget of their jobs.
create function {schema}.read_definition_homes(p_keys text[])
returns table (key text, owner text, contact text, sla_seconds double precision, paused boolean, budget text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment constant timestamptz := {schema}.now();
begin
    return query
    select d.key, q.owner, case when {schema}.sees_all() then q.contact end, q.sla_seconds,
           q.paused_at is not null and (q.resume_at is null or q.resume_at > moment), d.budget
      from {schema}.job_definition d join {schema}.queue q on q.name = d.queue where d.key = any (p_keys);
end
$$;

-- How long the attempts of a type ran and waited since a moment, cell by cell (rollup_bounds, and one for all beyond).
create function {schema}.read_type_histogram(p_job_type text, p_since timestamptz)
returns table (runs bigint[], waits bigint[], run_quantiles double precision[], bounds double precision[])
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    own constant uuid := {schema}.scope_tenant();
begin
    -- Of all tenants together where all are seen: an hour has a row for each of them else.
    execute format('select {schema}.histogram_sum(r.run_hist), {schema}.histogram_sum(r.wait_hist) from %s r
         where r.job_type = $1 and ($2 is null or r.tenant_id = $2) and r.minute >= {schema}.minute_of($3)',
        {schema}.rollup_source(p_since, {schema}.now() + interval '1 minute', own is null, null)) into runs, waits
        using p_job_type, own, p_since;
    bounds := {schema}.rollup_bounds();
    run_quantiles := array[{schema}.quantile(runs, 0.5), {schema}.quantile(runs, 0.95), {schema}.quantile(runs, 0.99)];
    return next;
end
$$;

-- Who made the newest jobs of a type: of the p_look newest of all within the scope, p_most of the type. Newest first along the
-- ids, so that it ends as soon as it has seen enough.
create function {schema}.read_type_callers(p_job_type text, p_most integer default 50, p_look integer default 5000)
returns table (source text, actor_type text, actor_id text, n bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_sort = off as $$
declare
    own constant uuid := {schema}.scope_tenant();
begin
    if own is null then
        return query
        select coalesce(m.source, ''), coalesce(m.actor_type, ''), coalesce(m.actor_id, ''), count(*)
          from (select l.* from (select j.job_type, j.source::text, j.actor_type::text, j.actor_id from {schema}.any_job j
                                  order by j.id desc limit p_look) l where l.job_type = p_job_type limit p_most) m
         group by 1, 2, 3 order by 4 desc, 1, 2, 3;
    else
        return query
        select coalesce(m.source, ''), coalesce(m.actor_type, ''), coalesce(m.actor_id, ''), count(*)
          from (select l.* from (select j.job_type, j.source::text, j.actor_type::text, j.actor_id from {schema}.any_job j
                                  where j.tenant_id = own order by j.id desc limit p_look) l where l.job_type = p_job_type limit p_most) m
         group by 1, 2, 3 order by 4 desc, 1, 2, 3;
    end if;
end
$$;

-- What runs of these types cost lately: the average of the last 200 lines of each that somebody spent, by unit. A spend
-- stands in the ledger of each budget above it, and counts once.
create index budget_line_type on {schema}.budget_line (job_type, id, tenant_id) where reservation_id is not null;
create function {schema}.read_type_costs(p_job_types text[])
returns table (job_type text, unit text, per_run numeric, runs bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    own constant uuid := {schema}.scope_tenant(); -- passes over others' lines within the index
begin
    return query
    select u.key, b.unit, sum(l.amount) / count(distinct (l.job_id, l.attempt)), count(distinct (l.job_id, l.attempt))
      from unnest(p_job_types) as u(key)
     cross join lateral (
        select distinct on (y.reservation_id, y.kind) y.budget_id, y.amount, y.job_id, y.attempt
          from (select x.budget_id, x.reservation_id, x.kind, x.amount, x.job_id, x.attempt from {schema}.budget_line x
                 where x.job_type = u.key and x.reservation_id is not null and (own is null or x.tenant_id = own)
                 order by x.id desc limit 200) y) l
      join {schema}.budget b on b.id = l.budget_id
     group by 1, 2 order by 1, 2;
end
$$;

-- What the chain covers of a row of the log, as text that is the same on every server and in every session.
create function {schema}.read_sealed(p_row {schema}.audit_log) returns text
language plpgsql stable parallel safe as $$
begin
    return jsonb_build_array(p_row.id, to_char(p_row.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), p_row.tenant_id,
        p_row.actor_type, p_row.actor_id, p_row.role, p_row.via, p_row.action, p_row.target_kind, p_row.target, p_row.result,
        p_row.reason, p_row.request_id, p_row.before, p_row.after, p_row.db_role, p_row.address)::text;
end
$$;

-- How far the chain goes, and how many rows wait for it (10,000 are more): the platform's to see.
create function {schema}.read_audit_chain()
returns table (first_n bigint, first_hash bytea, n bigint, hash bytea, sealed_at timestamptz, noted_n bigint, noted_hash text, waiting bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select s.n, s.hash, coalesce(c.n, s.n), coalesce(c.hash, s.hash), c.sealed_at, (u.note ->> 'n')::bigint, u.note ->> 'hash',
           (select count(*) from (select from {schema}.audit_unsealed x limit 10000) w)
      from {schema}.audit_start s
      left join lateral (select l.* from {schema}.audit_chain l order by l.n desc limit 1) c on true
      left join {schema}.upkeep u on u.name = 'seal';
end
$$;

-- Links of the chain after p_after with what each covers, and the link p_after itself, from which one goes on.
create function {schema}.read_audit_links(p_after bigint, p_most integer)
returns table (n bigint, audit_id uuid, hash bytea, sealed text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select c.n, c.audit_id, c.hash, (select {schema}.read_sealed(l.*) from {schema}.audit_log l where l.id = c.audit_id)
      from {schema}.audit_chain c where c.n >= p_after order by c.n limit p_most;
end
$$;

-- Notes that the log was exported, and with which filter.
create function {schema}.door_note_audit_export(p_filter jsonb) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform {schema}.audit('audit.export', 'audit_log', null, {schema}.scope_tenant(), null, p_filter);
end
$$;

-- Who can come in, whoever was here last first: one row for each name and role in a tenant. kind: login (people that were
-- logged in), invited (a link of theirs waits until expires_at), key (a program's or person's key, that opens logins too).
create function {schema}.read_members(p_most integer)
returns table (actor_id text, tenant_id uuid, role text, since timestamptz, last_seen_at timestamptz, logins bigint, kind text,
    expires_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    with people as materialized (
    select s.actor_id, s.tenant_id, s.role::text as role, min(s.created_at) as since, max(s.last_seen_at) as seen,
           count(*) filter (where s.ended_at is null and s.expires_at > (select {schema}.now())) as logins
      from (select x.actor_id, x.tenant_id, x.role, x.created_at, x.last_seen_at, x.ended_at, x.expires_at
              from {schema}.console_session x order by x.id desc limit 5000) s
     group by 1, 2, 3
    )
    select a.* from (
        select p.actor_id, p.tenant_id, p.role, p.since, p.seen, p.logins, 'login', null::timestamptz from people p
        union all
        select l.actor_id, l.tenant_id, l.role::text, max(l.created_at), null, 0, 'invited', max(l.expires_at)
          from {schema}.login_link l
         where l.used_at is null and l.expires_at > (select {schema}.now())
           and not exists (select from people p where p.actor_id = l.actor_id and p.role = l.role
                              and p.tenant_id is not distinct from l.tenant_id)
         group by 1, 2, 3
        union all
        select k.name, k.tenant_id, k.role::text, k.created_at, k.last_used_at, 0, 'key', k.expires_at
          from {schema}.api_key k
         where k.revoked_at is null and (k.expires_at is null or k.expires_at > (select {schema}.now()))
           and not exists (select from people p where p.actor_id = 'key ' || k.name and p.tenant_id is not distinct from k.tenant_id))
        a(actor_id, tenant_id, role, since, seen, logins, kind, expires_at)
     order by a.seen desc nulls last, a.since desc limit p_most;
end
$$;

-- Causes of a tenant's failures since a moment, those that failed most first, and whether they are its own: shared says that
-- more than one other tenant failed so meanwhile, and nothing of whom. recent: it happened in the last five minutes, too.
-- open: dead letters of it; ended: jobs that it ended since that moment, replayed: of these, succeeded and waiting: of the
-- replays. A cause of which all are 0 healed by itself: what failed so was tried again. Of each at most p_look are looked at.
create function {schema}.door_shared_failures(p_since timestamptz, p_most integer default 20, p_look integer default 500)
returns table (error_group text, job_type text, shared boolean, recent boolean, last_seen_at timestamptz, open bigint, ended bigint,
    replayed bigint, succeeded bigint, waiting bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    own constant uuid := {schema}.scope_tenant();
    moment timestamptz := {schema}.now();
begin
    return query
    select g.id, g.job_type,
           (select count(*) from (select from {schema}.error_group_tenant o
                                   where o.id = t.id and o.tenant_id <> own and o.last_seen_at >= p_since limit 2) x) = 2,
           t.last_seen_at > moment - interval '5 minutes', t.last_seen_at, d.n, c.ended, c.replayed, c.succeeded, c.waiting
      from (select e.* from {schema}.error_group_tenant e
             where e.tenant_id = own and e.last_seen_at >= p_since order by e.last_seen_at desc limit p_most) t
      join {schema}.error_group g on g.id = t.id
     cross join lateral (select count(*) as n from (select from {schema}.dead_letter l
                                                     where l.tenant_id = own and l.error_group = t.id limit p_look) x) d
     cross join lateral (
        select count(*) as ended, count(r.id) as replayed, count(*) filter (where s.status = 'succeeded') as succeeded,
               count(*) filter (where r.id is not null and s.status is null) as waiting
          from (select o.job_id, o.finished_at from {schema}.outcome o
                 where o.tenant_id = own and o.error_group = t.id and o.status <> 'succeeded'
                 order by o.job_id desc limit p_look) e
          left join lateral (select n.id from (select f.id from {schema}.any_job f where f.replayed_from = e.job_id offset 0) n
                              order by n.id desc limit 1) r on true
          left join lateral (select f.status from {schema}.outcome f where f.job_id = r.id offset 0) s on true
         where e.finished_at >= p_since) c
     order by d.n + c.ended desc, t.id;
end
$$;

-- What the platform's people did in bulk to jobs of this tenant among others', of their last five operations since a moment: n
-- jobs, done of them. Of each operation the first p_look jobs are looked at.
create function {schema}.door_shared_operations(p_since timestamptz, p_look integer default 20000)
returns table (kind text, at timestamptz, n bigint, done bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    own constant uuid := {schema}.scope_tenant();
begin
    return query
    select o.kind, o.created_at, x.n, x.done
      from (select p.* from {schema}.operation p
             where p.id >= {schema}.id_at(p_since) and p.tenant_id is null and p.status <> 'proposed'
             order by p.id desc limit 5) o
     cross join lateral (select count(*) as n, count(*) filter (where i.status is not null) as done
                           from (select y.tenant_id, y.status from {schema}.operation_item y
                                  where y.operation_id = o.id order by y.n limit p_look) i
                          where i.tenant_id = own) x
     where x.n > 0 order by o.id desc;
end
$$;
