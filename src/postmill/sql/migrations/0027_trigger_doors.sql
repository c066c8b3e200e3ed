-- postmill: safe
-- Triggers as people and code write them, and what there is to see of them.

create view {schema}.job_triggers as
select t.id, t.tenant_id, t.label, t.is_enabled, t.trigger_type, t.event_name, t.cron_expr, t.timezone, t.definition_id,
       t.payload_template, t.dedupe_window_seconds, t.created_by, t.created_at, t.updated_at, d.key as definition_key,
       extract(epoch from t.every)::double precision as every_seconds, t.missed, t.missed_limit, t.overlap, t.dst,
       t.jitter_seconds, t.origin, t.declared_in, t.next_run_at, t.broken, t.anchored_at, t.last_run_at, t.last_job_id,
       t.error, t.error_at
  from {schema}.trigger t join {schema}.job_definition d on d.id = t.definition_id
 where t.deleted_at is null;

create view {schema}.schedule_ticks as
select k.trigger_id, k.due, k.tenant_id, k.outcome, k.detail, k.job_id, k.fired_at, k.last_due, k.ticks
  from {schema}.tick k;

-- What is needed to check a trigger before it is saved: its tenant, its definition, and the moment.
create function {schema}.read_trigger_ground(p_tenant uuid, p_definition text)
returns table (moment timestamptz, tenant_id uuid, slug text, timezone text, definition_id uuid, job_type text, is_active boolean)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select m.moment, t.id, t.slug, t.timezone, d.id, d.key, d.is_active
      from (select {schema}.now() as moment,
                   coalesce(p_tenant, {schema}.scope_tenant(), '00000000-0000-0000-0000-000000000001') as tenant) m
      left join {schema}.tenant t on t.id = m.tenant
      left join lateral (
        select e.id, e.key, e.is_active from {schema}.job_definition e
         where e.key = p_definition or e.aliases @> array[p_definition] order by e.key = p_definition desc limit 1) d on true;
end
$$;

-- What the log keeps of a trigger: not where its schedule stands.
create function {schema}.trigger_facts(p_trigger {schema}.trigger) returns jsonb
language plpgsql immutable as $$
begin
    return case when p_trigger.id is not null then to_jsonb(p_trigger) - array['next_run_at', 'broken', 'last_run_at',
        'last_job_id', 'error', 'error_at', 'anchored_at', 'created_at', 'updated_at', 'tenant_id', 'id'] end;
end
$$;

-- Makes a trigger (p_id NULL) or changes one that still is as it was seen. p_fields: columns, checked.
-- saved | unknown | in_code | changed
create function {schema}.door_save_trigger(p_id uuid, p_seen timestamptz, p_tenant uuid, p_fields jsonb,
    out id uuid, out status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    old {schema}.trigger;
    new {schema}.trigger;
begin
    status := 'saved';
    if p_id is null then
        if not {schema}.in_scope(p_tenant) then
            status := 'unknown';
            return;
        end if;
        new := jsonb_populate_record(null::{schema}.trigger, jsonb_build_object('id', {schema}.new_id(), 'tenant_id', p_tenant,
            'origin', 'api', 'broken', false, 'created_by', {schema}.acting_id(), 'created_at', {schema}.now(),
            'updated_at', {schema}.now(), 'anchored_at', {schema}.now()) || p_fields);
        insert into {schema}.trigger select new.*;
        perform {schema}.audit('triggers.create', 'trigger', new.id::text, p_tenant, null, {schema}.trigger_facts(new));
        id := new.id;
        return;
    end if;
    select t.* into old from {schema}.trigger t where t.id = p_id and t.deleted_at is null for update;
    if old.id is null or not {schema}.in_scope(old.tenant_id) then
        status := 'unknown';
        return;
    elsif old.origin = 'code' then
        status := 'in_code';
        return;
    elsif old.updated_at <> p_seen then
        status := 'changed';
        return;
    end if;
    id := old.id;
    new := jsonb_populate_record(old, p_fields);
    update {schema}.trigger t
       set label = new.label, is_enabled = new.is_enabled, trigger_type = new.trigger_type, event_name = new.event_name,
           cron_expr = new.cron_expr, every = new.every, timezone = new.timezone, definition_id = new.definition_id,
           payload_template = new.payload_template, dedupe_window_seconds = new.dedupe_window_seconds, missed = new.missed,
           missed_limit = new.missed_limit, overlap = new.overlap, dst = new.dst, jitter_seconds = new.jitter_seconds,
           anchored_at = new.anchored_at, next_run_at = new.next_run_at, error = null, error_at = null,
           updated_at = greatest({schema}.now(), old.updated_at + interval '1 microsecond')
     where t.id = p_id;
    perform {schema}.audit('triggers.change', 'trigger', p_id::text, old.tenant_id, {schema}.trigger_facts(old),
                           {schema}.trigger_facts(new));
end
$$;

-- Takes a trigger out of use; what it made keeps its name. removed | unknown | in_code
create function {schema}.door_remove_trigger(p_id uuid, p_reason text default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    old {schema}.trigger;
begin
    select t.* into old from {schema}.trigger t where t.id = p_id and t.deleted_at is null for update;
    if old.id is null or not {schema}.in_scope(old.tenant_id) then
        return 'unknown';
    elsif old.origin = 'code' then
        return 'in_code';
    end if;
    update {schema}.trigger t set deleted_at = {schema}.now(), next_run_at = null, updated_at = {schema}.now() where t.id = p_id;
    perform {schema}.audit('triggers.remove', 'trigger', p_id::text, old.tenant_id, {schema}.trigger_facts(old), null, p_reason);
    return 'removed';
end
$$;

-- Runs a trigger by hand: a job whose window is not asked, and whose actor is who asked. Outcomes as in trigger_job,
-- and unknown.
create function {schema}.door_run_trigger(p_id uuid, p_payload jsonb, p_key text, p_traceparent text default null,
    out job_id uuid, out outcome text, out detail text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    own {schema}.trigger;
    origin text := nullif(current_setting('postmill.request_id', true), '');
begin
    select t.* into own from {schema}.trigger t where t.id = p_id and t.deleted_at is null;
    if own.id is null or not {schema}.in_scope(own.tenant_id) then
        outcome := 'unknown';
        return;
    end if;
    perform set_config('lock_timeout', '5s', true);
    select j.job_id, j.outcome, j.detail into job_id, outcome, detail
      from {schema}.trigger_job(own, p_payload, null, p_key, {schema}.now(), 'manual', own.id::text, null,
          coalesce(origin, own.id::text), coalesce(origin, own.id::text), p_traceparent, {schema}.acting_type(),
          {schema}.acting_id()) j;
    perform {schema}.audit('triggers.run', 'trigger', p_id::text, own.tenant_id, null,
        jsonb_build_object('outcome', outcome, 'job_id', job_id), null, case when outcome in ('enqueued', 'duplicate') then 'done' else 'refused' end);
end
$$;

-- Triggers that code declares. Those of the same modules that are declared no more are taken out of use; what others
-- made by API stays. created | changed | unchanged | removed | unknown_type
create function {schema}.register_triggers(p_modules text[], p_triggers jsonb)
returns table (label text, status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    item jsonb;
    old {schema}.trigger;
    new {schema}.trigger;
    own_definition uuid;
begin
    perform pg_advisory_xact_lock(hashtextextended('{schema}.register_triggers', 0));
    for item in select x.item from jsonb_array_elements(p_triggers) as x(item) loop
        label := item ->> 'label';
        select d.id into own_definition from {schema}.job_definition d where d.key = item ->> 'job_type';
        if not found then
            status := 'unknown_type';
            return next;
            continue;
        end if;
        item := (item - 'job_type') || jsonb_build_object('definition_id', own_definition, 'origin', 'code');
        select t.* into old from {schema}.trigger t
         where t.tenant_id = (item ->> 'tenant_id')::uuid and t.label = item ->> 'label' and t.origin = 'code'
           and t.deleted_at is null for update;
        if not found then
            new := jsonb_populate_record(null::{schema}.trigger, jsonb_build_object('id', {schema}.new_id(), 'broken', false,
                'created_at', {schema}.now(), 'updated_at', {schema}.now(), 'anchored_at', {schema}.now()) || item);
            insert into {schema}.trigger select new.*;
            status := 'created';
        else
            new := jsonb_populate_record(old, item);
            status := 'unchanged';
            if to_jsonb(new) is distinct from to_jsonb(old) then
                update {schema}.trigger t
                   set is_enabled = new.is_enabled, trigger_type = new.trigger_type, event_name = new.event_name,
                       cron_expr = new.cron_expr, every = new.every, timezone = new.timezone,
                       definition_id = new.definition_id, payload_template = new.payload_template,
                       dedupe_window_seconds = new.dedupe_window_seconds, missed = new.missed,
                       missed_limit = new.missed_limit, overlap = new.overlap, dst = new.dst,
                       jitter_seconds = new.jitter_seconds, declared_in = new.declared_in, updated_at = {schema}.now()
                 where t.id = old.id;
                status := 'changed';
            end if;
        end if;
        return next;
    end loop;
    status := 'removed';
    for label in
        update {schema}.trigger t set deleted_at = {schema}.now(), next_run_at = null, updated_at = {schema}.now()
         where t.origin = 'code' and t.deleted_at is null and t.declared_in = any (p_modules)
           and not exists (select from jsonb_array_elements(p_triggers) as x(item)
                            where (x.item ->> 'tenant_id')::uuid = t.tenant_id and x.item ->> 'label' = t.label)
        returning t.label
    loop
        return next;
    end loop;
end
$$;
