-- postmill: safe
-- Job definitions in full: their history, and how requests read and write them.

create table {schema}.definition_version (
    definition_id uuid not null references {schema}.job_definition (id) on delete cascade,
    version integer not null,
    at timestamptz not null,
    actor_type text collate "C" not null,
    actor_id text,
    via text collate "C" not null,
    definition jsonb not null,
    primary key (definition_id, version)
);

-- A queue of two kinds is refused whoever writes; the doors say so before it comes to that. The lock closes the race of
-- two that begin a queue at once.
create function {schema}.definition_written() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    other text;
begin
    new.guarded := new.strict_envelope or new.encrypted or new.secrets = 'refuse';
    if tg_op = 'INSERT' or (new.queue, new.kind) is distinct from (old.queue, old.kind) then
        perform pg_advisory_xact_lock(hashtextextended('{schema}.queue_kind:' || new.queue, 0));
        other := {schema}.queue_conflict(new.queue, new.kind, new.key);
        if other is not null then
            raise exception 'postmill: queue "%" serves "%", which is of another kind', new.queue, other
                using errcode = 'check_violation', hint = 'A queue serves either http definitions or the others.';
        end if;
    end if;
    return new;
end
$$;
create trigger written before insert or update on {schema}.job_definition
    for each row execute function {schema}.definition_written();

-- Every version is kept, and workers that follow the definitions hear of it.
create function {schema}.definition_changed() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if tg_op <> 'DELETE' and new.version > 0 and (tg_op = 'INSERT' or new.version <> old.version) then
        insert into {schema}.definition_version (definition_id, version, at, actor_type, actor_id, via, definition)
        values (new.id, new.version, {schema}.now(),
                coalesce(nullif(current_setting('postmill.actor_type', true), ''), 'system'),
                coalesce(nullif(current_setting('postmill.actor_id', true), ''), session_user),
                coalesce(nullif(current_setting('postmill.via', true), ''), 'sql'),
                to_jsonb(new) - array['id', 'guarded', 'limit_lane', 'edited', 'version', 'created_at', 'updated_at']);
    end if;
    perform {schema}.tell('!definitions');
    return null;
end
$$;
create trigger changed after insert or update or delete on {schema}.job_definition
    for each row execute function {schema}.definition_changed();

-- What whoever enqueues by name checks first. Keys and aliases that are not there have no row.
create function {schema}.read_enqueue_rules(p_names text[])
returns table (name text, key text, kind text, arg_schema text, argv_template text, asks_key boolean, secrets text,
               secret_keys text[], encrypted boolean, version integer, queue text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select u.name, d.key, d.kind, d.arg_schema::text, d.argv_template::text,
           d.strict_envelope or (d.kind <> 'function' and d.idempotency is not null), d.secrets, d.secret_keys, d.encrypted, d.version,
           d.queue
      from unnest(p_names) as u(name)
     cross join lateral (
        select e.* from {schema}.job_definition e where e.key = u.name
        union all
        select e.* from {schema}.job_definition e
         where e.aliases @> array[u.name] and not exists (select from {schema}.job_definition f where f.key = u.name)
        limit 1) d;
end
$$;

-- Definitions in the order of their keys, with the live workers that serve them. A tenant sees no program and no worker.
-- drift: unserved | queue_unserved (workers know the type, and none claims from its queue) | differs (a live worker runs
-- other code than what is registered).
create function {schema}.read_definitions(
    p_id uuid default null, p_key text default null, p_kind text default null, p_queue text default null,
    p_active boolean default null, p_after text default null, p_most integer default 1)
returns table (key text, document jsonb)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    whole boolean := {schema}.sees_all();
begin
    return query
    select d.key,
           jsonb_build_object(
               'id', d.id, 'key', d.key, 'kind', d.kind, 'description', d.description, 'arg_schema', d.arg_schema,
               'argv_template', case when whole then d.argv_template end, 'queue', d.queue, 'priority', d.priority,
               'timeout_seconds', d.timeout_seconds, 'max_attempts', d.max_attempts, 'max_lost', d.max_lost,
               'retry', d.retry, 'on_exhausted', d.on_exhausted, 'idempotency', d.idempotency,
               'idempotency_ttl_seconds', extract(epoch from d.idempotency_ttl),
               'idempotency_content', d.idempotency_content, 'category', d.category, 'keep', d.keep,
               'lane', d.lane, 'worker_limit', d.worker_limit, 'rate', l.rate, 'aliases', d.aliases,
               'replay_class', d.replay_class, 'strict_envelope', d.strict_envelope, 'secrets', d.secrets)
           || jsonb_build_object(
               'secret_keys', d.secret_keys, 'encrypted', d.encrypted, 'action', d.action,
               'escalation_fields', d.escalation_fields, 'log_fields', d.log_fields, 'budget', d.budget,
               'env_allow', case when whole then to_jsonb(d.env_allow) else '[]' end, 'is_active', d.is_active,
               'registered', d.fingerprint <> '', 'version', d.version, 'edited', d.edited, 'created_at', d.created_at,
               'updated_at', d.updated_at, 'served_by', case when whole then s.workers else '[]' end,
               'drift', array_remove(array[
                   case when d.is_active and s.served = 0 then 'unserved' end,
                   case when d.is_active and s.served > 0 and s.at_queue = 0 then 'queue_unserved' end,
                   case when s.differing > 0 then 'differs' end], null))
      from {schema}.job_definition d
      left join lateral (
        select jsonb_build_object('count', r.rate_count, 'seconds', r.rate_seconds, 'burst', r.rate_burst) as rate
          from {schema}.limit_rule r where r.name = 'type:' || d.key and r.rate_count is not null) l on true
     cross join lateral (
        select count(*) as served, count(*) filter (where d.queue = any (w.queues)) as at_queue,
               count(*) filter (where w.code <> coalesce(nullif(d.fingerprint, ''), d.version::text)) as differing,
               coalesce(jsonb_agg(jsonb_build_object('worker_id', w.worker_id, 'same', coalesce(
                   w.code = coalesce(nullif(d.fingerprint, ''), d.version::text), true)) order by w.worker_id), '[]') as workers
          from (select k.worker_id, k.queues, k.metadata -> 'definitions' ->> d.key as code
                  from {schema}.worker k join {schema}.lease e on e.holder = k.holder
                 where e.expires_at > (select {schema}.now()) and k.job_types && (array[d.key] || d.aliases)) w) s
     where (p_id is null or d.id = p_id) and (p_key is null or d.key = p_key) and (p_kind is null or d.kind = p_kind)
       and (p_queue is null or d.queue = p_queue) and (p_active is null or d.is_active = p_active)
       and (p_after is null or d.key > p_after)
     order by d.key
     limit p_most;
end
$$;

create function {schema}.read_definition_versions(p_id uuid, p_before integer, p_most integer)
returns table (version integer, at timestamptz, actor_type text, actor_id text, via text, definition jsonb)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select v.version, v.at, v.actor_type, v.actor_id, v.via, v.definition from {schema}.definition_version v
     where v.definition_id = p_id and (p_before is null or v.version < p_before)
     order by v.version desc limit p_most;
end
$$;

-- Definitions are the allow-list: only the platform's own people write them, whatever route or page forgot to ask.
create function {schema}.may_define() returns boolean
language plpgsql stable as $$
begin
    return {schema}.sees_all() and (coalesce(current_setting('postmill.via', true), '') not in ('api', 'console')
        or coalesce(current_setting('postmill.actor_role', true), '') = 'super_admin');
end
$$;

-- p_definition: every column, checked. p_edited: what is the operator's from now on, where code registers the type, too.
-- created | exists (detail: the key or alias) | other_queue (detail: the definition in the way) | forbidden.
create function {schema}.door_create_definition(p_definition jsonb, p_edited text[], out id uuid, out status text, out detail text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    new {schema}.job_definition;
    own_key text := p_definition ->> 'key';
begin
    if not {schema}.may_define() then
        perform {schema}.audit('definitions.create', 'definition', own_key, null, null, null, null, 'denied');
        status := 'forbidden';
        return;
    end if;
    perform pg_advisory_xact_lock(hashtextextended('{schema}.definitions', 0));
    detail := {schema}.name_conflict(own_key, p_definition -> 'aliases', null);
    if detail is not null then
        status := 'exists';
        return;
    end if;
    insert into {schema}.queue (name) values (p_definition ->> 'queue') on conflict do nothing;
    detail := {schema}.queue_conflict(p_definition ->> 'queue', p_definition ->> 'kind', own_key);
    if detail is not null then
        status := 'other_queue';
        return;
    end if;
    new := jsonb_populate_record(null::{schema}.job_definition, jsonb_build_object('id', {schema}.new_id(), 'max_lost', 3,
        'version', 1, 'edited', to_jsonb(p_edited), 'guarded', false, 'fingerprint', '', 'created_at', {schema}.now(),
        'updated_at', {schema}.now()) || (p_definition - 'rate'));
    insert into {schema}.job_definition select new.*;
    if jsonb_typeof(p_definition -> 'rate') = 'object' then
        perform {schema}.set_rate(own_key, p_definition -> 'rate');
    elsif exists (select from {schema}.limit_rule) then
        perform {schema}.settle_limits();
    end if;
    perform {schema}.audit('definitions.create', 'definition', own_key, null, null, p_definition);
    id := new.id;
    status := 'created';
end
$$;

-- One of these names that is the key or an alias of a definition other than p_own; NULL: all are free.
create function {schema}.name_conflict(p_key text, p_aliases jsonb, p_own text) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    names text[] := array[p_key] || array(select jsonb_array_elements_text(coalesce(p_aliases, '[]')));
begin
    return (select u.name from unnest(names) as u(name)
             where exists (select from {schema}.job_definition d
                            where d.key is distinct from p_own and (d.key = u.name or d.aliases @> array[u.name])) limit 1);
end
$$;

-- p_changes: columns with their new values, checked; p_release: what goes back to the code. p_version: refuse if it is
-- another one by now. changed | unchanged | unknown | stale (detail: the version) | exists | other_queue | forbidden.
create function {schema}.door_edit_definition(p_id uuid, p_changes jsonb, p_edited text[], p_release text[], p_version integer,
    out status text, out detail text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    old {schema}.job_definition;
    new {schema}.job_definition;
    old_rate jsonb;
    before jsonb;
begin
    if not {schema}.may_define() then
        perform {schema}.audit('definitions.edit', 'definition', p_id::text, null, null, null, null, 'denied');
        status := 'forbidden';
        return;
    end if;
    perform pg_advisory_xact_lock(hashtextextended('{schema}.definitions', 0));
    select * into old from {schema}.job_definition d where d.id = p_id for update;
    if not found then
        status := 'unknown';
        return;
    elsif p_version is not null and p_version <> old.version then
        status := 'stale';
        detail := old.version;
        return;
    end if;
    new := jsonb_populate_record(old, p_changes - 'rate');
    new.edited := array(select distinct e.name from unnest(old.edited || p_edited) as e(name)
                         where e.name <> all (p_release) order by 1);
    detail := {schema}.name_conflict(old.key, p_changes -> 'aliases', old.key);
    if detail is not null then
        status := 'exists';
        return;
    end if;
    insert into {schema}.queue (name) values (new.queue) on conflict do nothing;
    detail := {schema}.queue_conflict(new.queue, new.kind, old.key);
    if detail is not null then
        status := 'other_queue';
        return;
    end if;
    select jsonb_build_object('count', r.rate_count, 'seconds', r.rate_seconds, 'burst', r.rate_burst) into old_rate
      from {schema}.limit_rule r where r.name = 'type:' || old.key and r.rate_count is not null;
    if to_jsonb(new) = to_jsonb(old) and (not p_changes ? 'rate' or nullif(p_changes -> 'rate', 'null') is not distinct from old_rate) then
        status := 'unchanged';
        return;
    end if;
    update {schema}.job_definition d
       set kind = new.kind, description = new.description, arg_schema = new.arg_schema, argv_template = new.argv_template,
           env_allow = new.env_allow, queue = new.queue, priority = new.priority, max_attempts = new.max_attempts,
           timeout_seconds = new.timeout_seconds, retry = new.retry, on_exhausted = new.on_exhausted,
           idempotency = new.idempotency, idempotency_ttl = new.idempotency_ttl,
           idempotency_content = new.idempotency_content, category = new.category, keep = new.keep, lane = new.lane,
           worker_limit = new.worker_limit, aliases = new.aliases, replay_class = new.replay_class,
           strict_envelope = new.strict_envelope, secrets = new.secrets, secret_keys = new.secret_keys,
           encrypted = new.encrypted, action = new.action, escalation_fields = new.escalation_fields,
           log_fields = new.log_fields, budget = new.budget, is_active = new.is_active, edited = new.edited,
           version = old.version + 1, updated_at = {schema}.now()
     where d.id = p_id;
    if p_changes ? 'rate' then
        perform {schema}.set_rate(old.key, p_changes -> 'rate');
    elsif exists (select from {schema}.limit_rule) then
        perform {schema}.settle_limits();
    end if;
    select jsonb_object_agg(c.name, to_jsonb(old) -> c.name) into before from jsonb_object_keys(p_changes) as c(name);
    perform {schema}.audit('definitions.edit', 'definition', old.key, null,
                           before || case when p_changes ? 'rate' then jsonb_build_object('rate', old_rate) else '{}' end,
                           p_changes || case when cardinality(p_release) > 0
                                             then jsonb_build_object('released', to_jsonb(p_release)) else '{}' end);
    status := 'changed';
end
$$;

-- A job as the contract of seed 5 has it; a key that is optional and has no value is left out. NULL: no such job.
create function {schema}.read_envelope(p_id uuid) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    body {schema}.job;
    moment constant text := 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"';
begin
    select j.* into body from {schema}.job j where j.id = p_id;
    if not found then
        select k.* into body from {schema}.job_kept k where k.id = p_id;
        if not found then
            return null;
        end if;
    end if;
    return jsonb_build_object('job_id', body.id, 'job_type', body.job_type, 'org_id', body.tenant_id,
            'actor_type', body.actor_type, 'actor_id', body.actor_id, 'request_id', body.request_id,
            'correlation_id', body.correlation_id, 'idempotency_key', body.idempotency_key,
            'created_at', to_char(body.created_at at time zone 'UTC', moment), 'payload', body.payload)
        || case when body.project_id is null then '{}' else jsonb_build_object('project_id', body.project_id) end
        || case when body.scheduled_for is null then '{}'
                else jsonb_build_object('scheduled_for', to_char(body.scheduled_for at time zone 'UTC', moment)) end
        || case when body.traceparent is null then '{}' else jsonb_build_object('traceparent', body.traceparent) end;
end
$$;

-- Idempotency keys as seed 5 stores them: pending | running | succeeded | failed | dead, of the job that holds the key;
-- NULL where its history is gone. In the order of (tenant, project, key).
create function {schema}.read_idempotency_keys(
    p_key text default null, p_job_type text default null, p_after_tenant uuid default null, p_after_project uuid default null,
    p_after_key text default null, p_most integer default 50)
returns table (tenant_id uuid, project_id uuid, key text, job_type text, job_id uuid, mode text, status text,
               first_seen_at timestamptz, last_seen_at timestamptz, expires_at timestamptz, result_ref text, error_ref text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select k.tenant_id, nullif(k.project_id, '00000000-0000-0000-0000-000000000000'), k.key, k.job_type, k.job_id, k.mode,
           s.status, k.first_seen_at, k.last_seen_at, k.expires_at,
           case when s.status = 'succeeded' then coalesce(o.result_ref, case when o.result is not null then 'jobs/' || k.job_id end) end,
           case when s.status in ('failed', 'dead') then coalesce(o.error_ref, 'jobs/' || k.job_id || '/attempts') end
      from (select i.* from {schema}.idempotency_key i
             where (p_key is null or i.key = p_key) and (p_job_type is null or i.job_type = p_job_type)
               and (p_after_key is null or (i.tenant_id, i.project_id, i.key) > (p_after_tenant, p_after_project, p_after_key))
             order by i.tenant_id, i.project_id, i.key limit p_most) k
      left join lateral (select h.status, h.result, h.result_ref, h.error_ref from {schema}.outcome h
                          where h.job_id = k.job_id offset 0) o on true
     cross join lateral (select case
        when exists (select from {schema}.running r where r.id = k.job_id) then 'running'
        when exists (select from {schema}.ready r where r.id = k.job_id)
          or exists (select from {schema}.scheduled r where r.id = k.job_id)
          or exists (select from {schema}.blocked r where r.id = k.job_id) then 'pending'
        when exists (select from {schema}.dead_letter d where d.id = k.job_id) then 'dead'
        when o.status = 'succeeded' then 'succeeded'
        when o.status = 'dead_letter' then 'dead'
        when o.status is not null then 'failed' end as status) s
     order by k.tenant_id, k.project_id, k.key;
end
$$;

create function {schema}.read_projects(p_tenant uuid, p_after text, p_most integer)
returns table (id uuid, tenant_id uuid, slug text, name text, created_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select p.id, p.tenant_id, p.slug, p.name, p.created_at from {schema}.project p
     where p.tenant_id = p_tenant and p.slug > p_after order by p.slug limit p_most;
end
$$;

-- created | exists | unknown (there is no such tenant)
create function {schema}.door_create_project(p_tenant uuid, p_slug text, p_name text, out id uuid, out created_at timestamptz,
    out status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if not {schema}.in_scope(p_tenant) or not exists (select from {schema}.tenant t where t.id = p_tenant) then
        status := 'unknown';
        return;
    end if;
    insert into {schema}.project as p (tenant_id, slug, name) values (p_tenant, p_slug, coalesce(p_name, p_slug))
    on conflict (tenant_id, slug) do nothing returning p.id, p.created_at into id, created_at;
    status := case when id is null then 'exists' else 'created' end;
    if id is not null then
        perform {schema}.audit('projects.create', 'project', p_slug, p_tenant, null,
                               jsonb_build_object('id', id, 'slug', p_slug, 'name', coalesce(p_name, p_slug)));
    end if;
end
$$;
