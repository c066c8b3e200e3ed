-- postmill: safe
-- Events: named facts that applications publish, and their delivery to the triggers that wait for them. Rendering is
-- Python's: a publisher's own, in its transaction, or a worker's round for those who publish from elsewhere.

insert into {schema}.upkeep (name) values ('deliver');

create table {schema}.event (
    id uuid primary key,
    tenant_id uuid not null,
    name text collate "C" not null,
    context jsonb not null,
    published_at timestamptz not null,
    actor_type {schema}.actor_type not null default 'system',
    actor_id text,
    request_id text,
    correlation_id text not null,
    traceparent text
);
create index event_tenant on {schema}.event (tenant_id, id);
create index event_name on {schema}.event (tenant_id, name, id);

-- Each event with each trigger that it met. pending: not yet rendered; due_at says from when on a round may take it.
create table {schema}.event_delivery (
    event_id uuid not null,
    trigger_id uuid not null,
    tenant_id uuid not null,
    outcome text collate "C" not null default 'pending'
        check (outcome in ('pending', 'enqueued', 'duplicate', 'skipped', 'failed', 'refused')),
    detail text,
    job_id uuid,
    due_at timestamptz,
    decided_at timestamptz,
    primary key (event_id, trigger_id)
) with (fillfactor = 80);
create index event_delivery_trigger on {schema}.event_delivery (trigger_id, event_id);
create index event_delivery_due on {schema}.event_delivery (due_at, event_id) where outcome = 'pending';

-- The names and patterns that a trigger may have so that this event meets it: a.b.c, a.b.*, a.*, *.
create function {schema}.event_patterns(p_name text) returns text[]
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    parts text[] := string_to_array(p_name, '.');
    found text[] := array[p_name, '*'];
begin
    for n in 1 .. cardinality(parts) - 1 loop
        found := found || (array_to_string(parts[1:n], '.') || '.*');
    end loop;
    return found;
end
$$;

-- Writes an event, and a pending delivery for each trigger that it meets. Returns what is needed to render them.
create function {schema}.publish_event(
    p_name text, p_context jsonb, p_tenant uuid default null, p_correlation_id text default null,
    p_request_id text default null, p_traceparent text default null, p_actor_type text default null,
    p_actor_id text default null, p_grace interval default '0')
returns table (event_id uuid, published_at timestamptz, correlation_id text, trigger_id uuid, label text, job_type text,
               payload_template text, tenant_slug text, tenant_zone text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    owner_tenant uuid := coalesce(p_tenant, {schema}.scope_tenant(), '00000000-0000-0000-0000-000000000001');
begin
    event_id := {schema}.new_id();
    published_at := {schema}.now();
    correlation_id := coalesce(p_correlation_id, event_id::text);
    if not {schema}.in_scope(owner_tenant) or not exists (select from {schema}.tenant t where t.id = owner_tenant) then
        event_id := null; -- out of scope is as good as unknown
        return next;
        return;
    end if;
    if (select h.gated from {schema}.partition_horizon h) then
        select g.answer, g.cell into label, job_type from {schema}.gate(owner_tenant) g where g.answer <> 'parked';
        if label is not null then
            event_id := null; -- moving or moved, and the cell
            return next;
            return;
        end if;
    end if;
    insert into {schema}.event (id, tenant_id, name, context, published_at, actor_type, actor_id, request_id,
           correlation_id, traceparent)
    values (event_id, owner_tenant, p_name, p_context, published_at, coalesce(p_actor_type, 'system'), p_actor_id,
            p_request_id, correlation_id, p_traceparent);
    return query
    with met as (
        select t.* from {schema}.trigger t
         where t.tenant_id = owner_tenant and t.event_name = any ({schema}.event_patterns(p_name))
           and t.trigger_type = 'event' and t.is_enabled and t.deleted_at is null
    ), noted as (
        insert into {schema}.event_delivery (event_id, trigger_id, tenant_id, due_at)
        select publish_event.event_id, m.id, owner_tenant, publish_event.published_at + p_grace from met m
    )
    select publish_event.event_id, publish_event.published_at, publish_event.correlation_id, m.id, m.label, d.key,
           m.payload_template::text, n.slug, n.timezone
      from met m join {schema}.job_definition d on d.id = m.definition_id join {schema}.tenant n on n.id = m.tenant_id
     order by m.id;
    if not found then
        return next;
    end if;
end
$$;

-- Settles pending deliveries: jobs for those that were rendered, the reason for the others. One that is settled, or that
-- somebody else settles just now, is left alone. An element: event_id, trigger_id, payload, hash, key, outcome, detail.
create function {schema}.deliver_events(p_deliveries jsonb)
returns table (event_id uuid, trigger_id uuid, outcome text, detail text, job_id uuid)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    item record;
    own {schema}.trigger;
    fact {schema}.event;
    before text := current_setting('lock_timeout');
begin
    -- A publisher waits for nobody: what another open transaction holds is settled by a round.
    perform set_config('lock_timeout', '20ms', true);
    for item in
        select x.* from jsonb_to_recordset(p_deliveries) as x(event_id uuid, trigger_id uuid, payload jsonb, hash text,
            key text, outcome text, detail text) order by x.trigger_id, x.event_id
    loop
        event_id := item.event_id;
        trigger_id := item.trigger_id;
        outcome := item.outcome;
        detail := item.detail;
        job_id := null;
        select e.* into fact from {schema}.event e where e.id = item.event_id and {schema}.in_scope(e.tenant_id);
        if not found then
            continue;
        end if;
        perform from {schema}.event_delivery y
          where y.event_id = item.event_id and y.trigger_id = item.trigger_id and y.outcome = 'pending'
            for update skip locked;
        if not found then
            continue;
        end if;
        select t.* into own from {schema}.trigger t where t.id = item.trigger_id;
        if outcome is null then
            select j.job_id, j.outcome, j.detail into job_id, outcome, detail
              from {schema}.trigger_job(own, item.payload, item.hash, item.key, fact.published_at, 'event', fact.id::text,
                  null, coalesce(fact.request_id, fact.id::text), fact.correlation_id, fact.traceparent) j;
        end if;
        if outcome = 'pending' then
            update {schema}.event_delivery y set due_at = {schema}.now() + interval '1 second'
             where y.event_id = item.event_id and y.trigger_id = item.trigger_id;
        else
            update {schema}.event_delivery y
               set outcome = deliver_events.outcome, detail = deliver_events.detail, job_id = deliver_events.job_id, due_at = null,
                   decided_at = {schema}.now()
             where y.event_id = item.event_id and y.trigger_id = item.trigger_id;
            if outcome in ('failed', 'refused') then
                perform {schema}.note_trigger(own.id, detail);
            elsif own.error is not null and outcome = 'enqueued' then
                perform {schema}.note_trigger(own.id, null);
            end if;
        end if;
        return next;
    end loop;
    perform set_config('lock_timeout', before, true);
end
$$;

-- For psql, database triggers and any other language: the event is part of the caller's transaction; a worker makes its
-- jobs as soon as that is committed, at most a second later.
create function {schema}.publish(
    name text, context jsonb default '{}', tenant uuid default null, correlation_id text default null,
    request_id text default null, traceparent text default null) returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    found_one uuid;
    met boolean;
    standing text;
    elsewhere text;
    waiting boolean := exists (select from {schema}.event_delivery y where y.outcome = 'pending');
begin
    if name is null or name !~ '^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$' or length(name) > 200 then
        raise exception 'postmill: "%" is no name of an event', left(name, 200) using errcode = 'invalid_parameter_value',
            hint = 'Write words of letters, digits, _ and - with dots between them, as in provider.folder.updated.';
    elsif jsonb_typeof(context) is distinct from 'object' then
        raise exception 'postmill: the context of % must be a JSON object, got %', name,
            coalesce(jsonb_typeof(context), 'NULL') using errcode = 'invalid_parameter_value';
    end if;
    select p.event_id, p.trigger_id is not null, p.label, p.job_type into found_one, met, standing, elsewhere
      from {schema}.publish_event(name, context, tenant, correlation_id, request_id, traceparent) p limit 1;
    if found_one is null and standing is not null then
        perform {schema}.refuse_away(tenant, standing, elsewhere);
    elsif found_one is null then
        raise exception 'postmill: there is no tenant %', tenant using errcode = 'foreign_key_violation';
    end if;
    if met and not waiting then
        perform {schema}.tell('+deliver');
    end if;
    return found_one;
end
$$;

-- Pending deliveries of events that were published without Python, or whose publisher did not come to it.
create function {schema}.pending_deliveries(p_most integer)
returns table (event_id uuid, name text, context text, published_at timestamptz, correlation_id text, tenant_id uuid,
               trigger_id uuid, label text, job_type text, payload_template text, tenant_slug text, tenant_zone text)
language plpgsql volatile as $$
begin
    return query
    select e.id, e.name, e.context::text, e.published_at, e.correlation_id, e.tenant_id, t.id, t.label, d.key,
           t.payload_template::text, n.slug, n.timezone
      from (select y.event_id, y.trigger_id from {schema}.event_delivery y
             where y.outcome = 'pending' and y.due_at <= (select {schema}.now())
               and not (select h.gated and {schema}.is_away(y.tenant_id) from {schema}.partition_horizon h)
             order by y.due_at, y.event_id limit p_most for update skip locked) y
      join {schema}.event e on e.id = y.event_id
      join {schema}.trigger t on t.id = y.trigger_id
      join {schema}.job_definition d on d.id = t.definition_id
      join {schema}.tenant n on n.id = e.tenant_id;
end
$$;

-- The same for requests: who acts is who asks.
create function {schema}.door_publish(
    p_name text, p_context jsonb, p_tenant uuid, p_correlation_id text, p_traceparent text, p_grace interval)
returns table (event_id uuid, published_at timestamptz, correlation_id text, trigger_id uuid, label text, job_type text,
               payload_template text, tenant_slug text, tenant_zone text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select e.* from {schema}.publish_event(p_name, p_context, p_tenant,
        coalesce(p_correlation_id, nullif(current_setting('postmill.request_id', true), '')),
        nullif(current_setting('postmill.request_id', true), ''), p_traceparent, {schema}.acting_type(), {schema}.acting_id(),
        p_grace) e;
end
$$;

create function {schema}.door_deliver(p_deliveries jsonb)
returns table (event_id uuid, trigger_id uuid, outcome text, detail text, job_id uuid)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query select d.* from {schema}.deliver_events(p_deliveries) d;
end
$$;

create view {schema}.events as
select e.id, e.tenant_id, e.name, e.context, e.published_at, e.actor_type::text, e.actor_id, e.request_id, e.correlation_id,
       e.traceparent
  from {schema}.event e;

create view {schema}.event_deliveries as
select y.event_id, y.trigger_id, t.label as trigger_label, y.tenant_id, y.outcome, y.detail, y.job_id, y.decided_at
  from {schema}.event_delivery y join {schema}.trigger t on t.id = y.trigger_id;
