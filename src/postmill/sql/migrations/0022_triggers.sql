-- postmill: safe
-- Triggers make jobs: of events, or when a schedule is due. When that is, Python computes; what is written here keeps
-- each tick and each event to one job, whoever comes late or twice.

insert into {schema}.upkeep (name) values ('schedule');

create table {schema}.trigger (
    id uuid primary key default {schema}.new_id(),
    tenant_id uuid not null default '00000000-0000-0000-0000-000000000001' references {schema}.tenant (id),
    label text not null check (length(label) between 1 and 200),
    is_enabled boolean not null default true,
    trigger_type text collate "C" not null check (trigger_type in ('event', 'schedule')),
    event_name text collate "C",
    cron_expr text collate "C",
    every interval check (every >= interval '1 second'),
    timezone text collate "C",
    definition_id uuid not null references {schema}.job_definition (id) on delete restrict,
    payload_template jsonb not null default '{}' check (jsonb_typeof(payload_template) = 'object'),
    dedupe_window_seconds integer not null default 300 check (dedupe_window_seconds between 0 and 31536000),
    missed text collate "C" not null default 'once' check (missed in ('skip', 'once', 'all')),
    missed_limit integer not null default 100 check (missed_limit between 1 and 1000),
    overlap text collate "C" not null default 'allow' check (overlap in ('allow', 'skip', 'cancel_previous')),
    dst text collate "C" not null default 'once' check (dst in ('once', 'skip', 'wall')),
    jitter_seconds integer not null default 0 check (jitter_seconds between 0 and 86400),
    origin text collate "C" not null default 'api' check (origin in ('api', 'code')),
    declared_in text collate "C",
    created_by text,
    created_at timestamptz not null default {schema}.now(),
    updated_at timestamptz not null default {schema}.now(),
    deleted_at timestamptz,
    -- Where the schedule stands. NULL: the scheduler plans it; broken: it could not, error says why.
    next_run_at timestamptz,
    broken boolean not null default false,
    anchored_at timestamptz not null default date_trunc('second', {schema}.now()),
    last_run_at timestamptz,
    last_job_id uuid,
    -- The last thing that went wrong, until something goes well.
    error text,
    error_at timestamptz,
    check ((trigger_type = 'event' and event_name is not null and cron_expr is null and every is null)
        or (trigger_type = 'schedule' and event_name is null and timezone is not null
            and (cron_expr is null) <> (every is null))),
    check ((origin = 'code') = (declared_in is not null))
);
create index trigger_tenant on {schema}.trigger (tenant_id, id);
create index trigger_definition on {schema}.trigger (definition_id);
create index trigger_event on {schema}.trigger (tenant_id, event_name)
 where trigger_type = 'event' and is_enabled and deleted_at is null;
-- What is due is found by this index alone: 100,000 schedules that wait cost nothing.
create index trigger_due on {schema}.trigger (next_run_at)
 where trigger_type = 'schedule' and is_enabled and deleted_at is null and not broken;
create unique index trigger_declared on {schema}.trigger (tenant_id, label)
 where origin = 'code' and deleted_at is null;

-- A schedule that is edited or switched on is planned anew from now on, also by plain SQL: what a pause left out is not
-- made up for. Who knows the next run, sets it in the same statement.
create function {schema}.trigger_changed() returns trigger
language plpgsql volatile as $$
begin
    if new.trigger_type = 'schedule'
        and (new.cron_expr is distinct from old.cron_expr or new.every is distinct from old.every
             or new.timezone is distinct from old.timezone or new.dst is distinct from old.dst
             or (new.is_enabled and not old.is_enabled) or (new.deleted_at is null and old.deleted_at is not null))
    then
        new.broken := false;
        if new.every is distinct from old.every and new.anchored_at = old.anchored_at then
            new.anchored_at := date_trunc('second', {schema}.now());
        end if;
        if new.next_run_at is not distinct from old.next_run_at then
            new.next_run_at := null;
        end if;
    end if;
    return new;
end
$$;
create trigger trigger_changed before update of cron_expr, every, timezone, dst, is_enabled, deleted_at on {schema}.trigger
    for each row execute function {schema}.trigger_changed();

-- Each due moment of a schedule, and what came of it; ticks that were left out together are one row up to last_due.
create table {schema}.tick (
    trigger_id uuid not null,
    due timestamptz not null,
    tenant_id uuid not null,
    outcome text collate "C" not null check (outcome in ('enqueued', 'duplicate', 'skipped', 'failed', 'refused')),
    detail text,
    job_id uuid,
    fired_at timestamptz not null,
    last_due timestamptz,
    ticks integer not null default 1,
    primary key (trigger_id, due)
);
create index tick_fired_at on {schema}.tick (fired_at);

-- Which payloads a trigger made a job of lately. hash is that of the rendered payload, before any encryption.
create table {schema}.trigger_recent (
    trigger_id uuid not null,
    hash text collate "C" not null,
    job_id uuid not null,
    at timestamptz not null,
    expires_at timestamptz not null,
    primary key (trigger_id, hash)
);
create index trigger_recent_expires on {schema}.trigger_recent (expires_at);

-- The job of one trigger, once within its window. p_at is the moment that counts for the window: a tick's due moment,
-- an event's publishing. Never raises for what a trigger is wrong about.
create function {schema}.trigger_job(
    p_trigger {schema}.trigger, p_payload jsonb, p_hash text, p_key text, p_at timestamptz, p_source text,
    p_source_ref text, p_scheduled_for timestamptz, p_request_id text, p_correlation_id text, p_traceparent text,
    p_actor_type text default 'system', p_actor_id text default null,
    out job_id uuid, out outcome text, out detail text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    own uuid := {schema}.new_id();
    span interval := make_interval(secs => p_trigger.dedupe_window_seconds);
    held {schema}.trigger_recent;
    job_type text;
    suspended boolean;
    answer record;
begin
    select d.key, n.status = 'suspended' into job_type, suspended
      from {schema}.job_definition d, {schema}.tenant n where d.id = p_trigger.definition_id and n.id = p_trigger.tenant_id;
    if suspended then
        outcome := 'skipped';
        detail := 'the tenant is suspended';
        return;
    end if;
    begin
        if p_hash is not null and p_trigger.dedupe_window_seconds > 0 then
            insert into {schema}.trigger_recent as r (trigger_id, hash, job_id, at, expires_at)
            values (p_trigger.id, p_hash, own, p_at, greatest(p_at, {schema}.now()) + span)
            on conflict (trigger_id, hash) do update set at = r.at
            returning r.* into held;
            if held.job_id <> own and held.at > p_at - span and held.at < p_at + span then
                job_id := held.job_id;
                outcome := 'duplicate';
                detail := 'an equal payload within the dedupe window';
                return;
            end if;
        end if;
        if p_key is null then
            answer := {schema}.enqueue_one(job_type, p_payload, p_trigger.tenant_id, p_scheduled_for => p_scheduled_for,
                p_source => p_source, p_source_ref => p_source_ref, p_actor_type => p_actor_type,
                p_actor_id => coalesce(p_actor_id, 'trigger:' || p_trigger.id),
                p_request_id => p_request_id, p_correlation_id => p_correlation_id, p_traceparent => p_traceparent,
                p_id => own);
        else
            answer := {schema}.enqueue_keyed(p_key, null, null, job_type, p_payload, p_trigger.tenant_id,
                p_scheduled_for => p_scheduled_for, p_source => p_source, p_source_ref => p_source_ref,
                p_actor_type => p_actor_type, p_actor_id => coalesce(p_actor_id, 'trigger:' || p_trigger.id), p_request_id => p_request_id,
                p_correlation_id => p_correlation_id, p_traceparent => p_traceparent);
        end if;
        job_id := answer.id;
        case answer.status
            when 'created' then outcome := 'enqueued';
            when 'duplicate' then
                outcome := 'duplicate';
                detail := 'its idempotency key is held by another job';
            -- Of a tenant that moves: it fires where the tenant is then.
            when 'busy', 'serialization', 'moving', 'moved' then outcome := 'pending';
            else
                outcome := 'refused';
                detail := answer.status || coalesce(': ' || answer.detail, '');
        end case;
        if outcome in ('pending', 'refused') then
            -- The window must not speak of a job that never was.
            raise exception using errcode = 'PM001';
        elsif held.job_id is distinct from answer.id and held.trigger_id is not null then
            update {schema}.trigger_recent r
               set job_id = answer.id, at = p_at, expires_at = greatest(p_at, {schema}.now()) + span
             where r.trigger_id = p_trigger.id and r.hash = p_hash;
        end if;
    exception
        when sqlstate 'PM001' then
            job_id := null;
        when lock_not_available or deadlock_detected or serialization_failure then
            job_id := null;
            outcome := 'pending';
            detail := null;
    end;
end
$$;

-- Notes on a trigger what went wrong, or that it goes well again. Never waits: whoever holds the row edits it just now,
-- or is another publisher that notes the same.
create function {schema}.note_trigger(p_id uuid, p_error text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if exists (select from {schema}.trigger t where t.id = p_id and t.error is distinct from p_error) then
        update {schema}.trigger t
           set error = p_error, error_at = case when p_error is not null then {schema}.now() end
         where t.id = (select l.id from {schema}.trigger l where l.id = p_id for no key update skip locked);
    end if;
end
$$;

-- Fires those ticks of a set that are plain: one of its schedule, no key, nothing before it to be waited for. As fire_ticks
-- does, but all with one statement of each kind: an eighth of the time. Windows need no more than a look, for whoever
-- writes of a schedule's payloads holds its row. What is not in the answer is the loop's business.
create function {schema}.fire_plain(p_ticks jsonb)
returns table (trigger_id uuid, due timestamptz, outcome text, detail text, job_id uuid, late double precision)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    mine record;
    made record;
    moment timestamptz;
begin
    with asked as materialized (
        select x.* from jsonb_to_recordset(p_ticks) as x(plain boolean, trigger_id uuid, expected timestamptz, due timestamptz,
            next timestamptz, payload jsonb, hash text, run_at timestamptz, correlation_id text)
         where x.plain
    ), own as materialized (
        -- Each row by its key, whatever the planner thinks of the set: a join read every schedule there is.
        select a.*, t.tenant_id, t.span, d.key as job_type
          from (select o.* from asked o order by o.trigger_id) a
         cross join lateral (
            select g.tenant_id, g.definition_id, g.dedupe_window_seconds as span from {schema}.trigger g
             where g.id = a.trigger_id and g.is_enabled and g.deleted_at is null and g.overlap = 'allow'
               and g.next_run_at is not distinct from a.expected
               and (select k.due from {schema}.tick k where k.trigger_id = a.trigger_id and k.due = a.due) is null
               and (select n.status from {schema}.tenant n where n.id = g.tenant_id) <> 'suspended'
               for no key update skip locked) t
         cross join lateral (select e.key from {schema}.job_definition e where e.id = t.definition_id offset 0) d
    )
    select array_agg(o.trigger_id) as ids, array_agg(o.due) as dues, array_agg(o.next) as nexts, array_agg(o.hash) as hashes,
           array_agg(o.span) as spans, array_agg(o.tenant_id) as tenants, array_agg(o.job_type) as types,
           array_agg(o.payload) as payloads, array_agg(o.run_at) as run_ats, array_agg(o.correlation_id) as correlations,
           array_agg(r.job_id) as held, count(*) as n
      into mine
      from own o
      left join lateral (
        select c.job_id from {schema}.trigger_recent c
         where c.trigger_id = o.trigger_id and c.hash = o.hash and c.at > o.due - make_interval(secs => o.span)
           and c.at < o.due + make_interval(secs => o.span) offset 0) r on true;
    if mine.n = 0 then
        return;
    end if;
    -- The place among those that make a job is the number of the answer.
    with wanted as (
        select u.i, row_number() over (order by u.i) as n
          from unnest(mine.held) with ordinality as u(job_id, i) where u.job_id is null
    ), answers as materialized (
        select e.* from {schema}.enqueue_many(
            (select array_agg(mine.types[w.i] order by w.i) from wanted w),
            (select array_agg(mine.payloads[w.i] order by w.i) from wanted w),
            (select array_agg(mine.tenants[w.i] order by w.i) from wanted w),
            p_scheduled_for => (select array_agg(mine.run_ats[w.i] order by w.i) from wanted w),
            p_sources => (select array_agg('schedule'::text) from wanted w),
            p_source_refs => (select array_agg(mine.ids[w.i]::text order by w.i) from wanted w),
            p_actor_ids => (select array_agg('trigger:' || mine.ids[w.i] order by w.i) from wanted w),
            p_request_ids => (select array_agg(mine.correlations[w.i] order by w.i) from wanted w),
            p_correlation_ids => (select array_agg(mine.correlations[w.i] order by w.i) from wanted w)) e
         where exists (select from wanted)
    )
    select array_agg(w.i) as places, array_agg(a.id) as ids, array_agg(a.status) as statuses, array_agg(a.detail) as details
      into made from answers a join wanted w on w.n = a.n;
    moment := {schema}.now();
    return query
    with told as materialized (
        select u.i, mine.ids[u.i] as id, mine.dues[u.i] as due, mine.hashes[u.i] as hash, mine.spans[u.i] as span,
               coalesce(m.id, u.held) as job,
               case when u.held is not null then 'duplicate' when m.status = 'created' then 'enqueued' else 'refused' end as outcome,
               case when u.held is not null then 'an equal payload within the dedupe window'
                    when m.status <> 'created' then m.status || coalesce(': ' || m.detail, '') end as detail
          from unnest(mine.held) with ordinality as u(held, i)
          left join unnest(made.places, made.ids, made.statuses, made.details) as m(i, id, status, detail) on m.i = u.i
         where m.status is null or m.status not in ('moving', 'moved')
    ), recent as (
        insert into {schema}.trigger_recent as r (trigger_id, hash, job_id, at, expires_at)
        select t.id, t.hash, t.job, t.due, greatest(t.due, moment) + make_interval(secs => t.span)
          from told t where t.outcome = 'enqueued' and t.span > 0
        on conflict on constraint trigger_recent_pkey
        do update set job_id = excluded.job_id, at = excluded.at, expires_at = excluded.expires_at
    ), ticks as (
        insert into {schema}.tick (trigger_id, due, tenant_id, outcome, detail, job_id, fired_at)
        select t.id, t.due, mine.tenants[t.i], t.outcome, t.detail, t.job, moment from told t
    ), moved as (
        update {schema}.trigger g
           set next_run_at = mine.nexts[t.i], last_run_at = t.due,
               last_job_id = case when t.outcome = 'enqueued' then t.job else g.last_job_id end,
               error = case when t.outcome = 'refused' then t.detail end,
               error_at = case when t.outcome = 'refused' then moment end
          from told t where g.id = t.id
    )
    select t.id, t.due, t.outcome, t.detail, t.job, extract(epoch from moment - t.due)::double precision from told t;
end
$$;

-- Fires due ticks, each for itself: a tick is taken only if its schedule still stands where who computed it saw it, and
-- only if it has no row yet. So a scheduler that slept changes nothing. An element of p_ticks: trigger_id, expected
-- (next_run_at as it was seen), due, next, payload, hash, key, run_at, correlation_id; outcome and detail where no job is
-- wanted; last_due and ticks where several are left out together; plain where it may go with the others (fire_plain).
create function {schema}.fire_ticks(p_ticks jsonb)
returns table (trigger_id uuid, due timestamptz, outcome text, detail text, job_id uuid, late double precision)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    item record;
    own {schema}.trigger;
    moment timestamptz;
    done uuid[];
begin
    for trigger_id, due, outcome, detail, job_id, late in select f.* from {schema}.fire_plain(p_ticks) f loop
        done := done || trigger_id;
        return next;
    end loop;
    for item in
        select x.* from jsonb_to_recordset(p_ticks) as x(trigger_id uuid, expected timestamptz, due timestamptz,
            next timestamptz, payload jsonb, hash text, key text, run_at timestamptz, correlation_id text, outcome text,
            detail text, last_due timestamptz, ticks integer)
         where x.trigger_id <> all (coalesce(done, '{}'))
    loop
        trigger_id := item.trigger_id;
        due := item.due;
        outcome := item.outcome;
        detail := item.detail;
        job_id := null;
        moment := {schema}.now();
        late := extract(epoch from moment - item.due);
        select t.* into own from {schema}.trigger t
         where t.id = item.trigger_id and t.is_enabled and t.deleted_at is null
           and t.next_run_at is not distinct from item.expected
           for no key update skip locked;
        if not found then
            outcome := 'stale';
            return next;
            continue;
        end if;
        if exists (select from {schema}.tick k where k.trigger_id = own.id and k.due = item.due) then
            update {schema}.trigger t set next_run_at = item.next where t.id = own.id;
            outcome := 'stale';
            return next;
            continue;
        end if;
        if outcome is null and own.overlap <> 'allow' and own.last_job_id is not null
            and {schema}.is_live(own.last_job_id)
        then
            if own.overlap = 'skip' then
                outcome := 'skipped';
                detail := 'the job of the run before is not over: ' || own.last_job_id;
            else
                perform {schema}.cancel_jobs(array[own.last_job_id], 'system', 'trigger:' || own.id, 'the next run is due');
            end if;
        end if;
        if outcome is null then
            select j.job_id, j.outcome, j.detail into job_id, outcome, detail
              from {schema}.trigger_job(own, item.payload, item.hash, item.key, item.due, 'schedule', own.id::text,
                  item.run_at, item.correlation_id, item.correlation_id, null) j;
        end if;
        if outcome = 'pending' then
            return next; -- somebody holds its key: it stays due
            continue;
        end if;
        insert into {schema}.tick (trigger_id, due, tenant_id, outcome, detail, job_id, fired_at, last_due, ticks)
        values (own.id, item.due, own.tenant_id, outcome, detail, job_id, moment, item.last_due, coalesce(item.ticks, 1));
        update {schema}.trigger t
           set next_run_at = item.next, last_run_at = coalesce(item.last_due, item.due),
               last_job_id = case when fire_ticks.outcome = 'enqueued' then fire_ticks.job_id else t.last_job_id end,
               error = case when fire_ticks.outcome in ('failed', 'refused') then fire_ticks.detail
                            when fire_ticks.outcome = 'skipped' then t.error end,
               error_at = case when fire_ticks.outcome in ('failed', 'refused') then moment
                               when fire_ticks.outcome = 'skipped' then t.error_at end
         where t.id = own.id;
        return next;
    end loop;
end
$$;

-- Sets the next run of schedules that have none, or says what keeps them from having one.
create function {schema}.plan_triggers(p_plans jsonb) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    planned integer;
begin
    with plans as (
        select x.* from jsonb_to_recordset(p_plans) as x(trigger_id uuid, expected timestamptz, next timestamptz, error text)
    ), mine as (
        select t.id from {schema}.trigger t join plans p on p.trigger_id = t.id
         where t.next_run_at is not distinct from p.expected order by t.id for no key update of t skip locked
    ), done as (
        update {schema}.trigger t
           set next_run_at = p.next, broken = p.next is null,
               error = coalesce(p.error, case when p.next is null then 'its schedule never comes again' end, t.error),
               error_at = case when p.next is null then (select {schema}.now()) else t.error_at end
          from plans p, mine m where t.id = p.trigger_id and m.id = t.id
        returning t.id
    )
    select count(*) into planned from done;
    return planned;
end
$$;
