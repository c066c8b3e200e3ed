-- postmill: safe
-- Job types enter the allow-list; roles get their rights.

-- Which definition stands in the way of one of this kind in this queue; NULL: none. Workers in other languages claim by
-- queue, as those in Python do, so a queue serves either http definitions or the others.
create function {schema}.queue_conflict(p_queue text, p_kind text, p_key text) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return (select d.key from {schema}.job_definition d
             where d.queue = p_queue and d.key <> p_key and (d.kind = 'http') <> (p_kind = 'http') order by d.key limit 1);
end
$$;

-- Upserts job types and their queues from a JSON array. What an operator edited (named in edited) stays. An answer
-- row per type: created | changed | unchanged | kept (some fields are the operator's) | other_kind (the key is one of a
-- command or of http workers) | other_queue (its queue serves http workers); the last two change nothing.
create function {schema}.register_job_types(p_types jsonb)
returns table (key text, status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    item jsonb;
    old {schema}.job_definition;
    new {schema}.job_definition;
    field text;
    limits jsonb;
begin
    for item in select t.item from jsonb_array_elements(p_types) as t(item) order by t.item ->> 'key' loop
        key := item ->> 'key';
        limits := coalesce(item -> 'limits', '[]');
        status := null;
        for field in select key union all select item ->> 'queue'
                     union all select a.name from jsonb_array_elements_text(coalesce(item -> 'aliases', '[]')) as a(name) loop
            -- The indexes' own error would name neither.
            if length(field) not between 1 and 200 then
                raise exception 'postmill: job type "%": a name has 1 to 200 characters, "%" has %', left(key, 200),
                    left(field, 200), length(field) using errcode = 'invalid_parameter_value';
            end if;
        end loop;
        insert into {schema}.queue (name) values (coalesce(item ->> 'queue', 'default')) on conflict do nothing;
        select * into old from {schema}.job_definition d where d.key = register_job_types.key for update;
        if not found then
            if {schema}.queue_conflict(coalesce(item ->> 'queue', 'default'), 'function', key) is not null then
                status := 'other_queue';
                return next;
                continue;
            end if;
            -- Version 0 is nobody's: the update below makes it 1, with its history.
            insert into {schema}.job_definition (key, queue, max_attempts, version)
            values (key, coalesce(item ->> 'queue', 'default'), 5, 0) on conflict do nothing;
            status := case when found then 'created' end;
            select * into old from {schema}.job_definition d where d.key = register_job_types.key for update;
        end if;
        foreach field in array old.edited loop
            item := item - field;
        end loop;
        new := jsonb_populate_record(old, item - 'limits' - 'limit_lane' - 'version' - 'edited' - 'id');
        if old.kind <> 'function' then
            status := 'other_kind';
        elsif {schema}.queue_conflict(new.queue, 'function', key) is not null then
            status := 'other_queue';
        elsif to_jsonb(new) is distinct from to_jsonb(old) or old.version = 0 then
            update {schema}.job_definition d
               set description = new.description, arg_schema = new.arg_schema, queue = new.queue,
                   priority = new.priority, max_attempts = new.max_attempts, max_lost = new.max_lost,
                   timeout_seconds = new.timeout_seconds, retry = new.retry, on_exhausted = new.on_exhausted,
                   idempotency = new.idempotency, idempotency_ttl = new.idempotency_ttl,
                   idempotency_content = new.idempotency_content, keep = new.keep, lane = new.lane,
                   worker_limit = new.worker_limit, aliases = new.aliases, category = new.category,
                   strict_envelope = new.strict_envelope, secrets = new.secrets, secret_keys = new.secret_keys,
                   encrypted = new.encrypted, action = new.action, escalation_fields = new.escalation_fields,
                   log_fields = new.log_fields, replay_class = new.replay_class, budget = new.budget, fingerprint = new.fingerprint,
                   version = old.version + 1, updated_at = {schema}.now()
             where d.key = register_job_types.key;
            status := coalesce(status, 'changed');
        else
            status := case when cardinality(old.edited) > 0 then 'kept' else 'unchanged' end;
        end if;
        if status not in ('other_kind', 'other_queue') then
            perform {schema}.declare_limits('type', key, limits, 'rate' = any (old.edited));
        end if;
        return next;
    end loop;
    if exists (select from {schema}.limit_rule) then
        perform {schema}.settle_limits();
    end if;
end
$$;

create function {schema}.limit_name(p_scope text, p_name text, p_per text[]) returns text
language plpgsql immutable parallel safe as $$
begin
    return p_scope || coalesce(':' || p_name, '') || case when cardinality(p_per) > 0 then '/' || array_to_string(p_per, '/') else '' end;
end
$$;

-- What code or settings say of the limits of a type or queue: an array of {"per", "max_running", "rate": {"count", "seconds",
-- "burst"}}. What an operator set stays in force; what is not said any more is gone. p_keep_rate: the rate of all together is
-- an operator's edit of the definition.
create function {schema}.declare_limits(p_scope text, p_name text, p_limits jsonb, p_keep_rate boolean default false) returns void
language plpgsql volatile as $$
declare
    item jsonb;
    parts text[];
    own text;
    names text[] := '{}';
begin
    if p_keep_rate then
        p_limits := (select coalesce(jsonb_agg(e.item - case when e.item -> 'per' = '[]' then 'rate' else '' end), '[]')
                       from jsonb_array_elements(p_limits) as e(item));
        if not p_limits @> '[{"per": []}]' then
            p_limits := p_limits || '[{"per": []}]';
        end if;
    end if;
    for item in select e.item from jsonb_array_elements(p_limits) as e(item) loop
        parts := array(select jsonb_array_elements_text(item -> 'per'));
        own := {schema}.limit_name(p_scope, p_name, parts);
        if p_keep_rate and parts = '{}' then
            item := item || jsonb_build_object('rate', (select l.declared -> 'rate' from {schema}.limit_rule l where l.name = own));
        end if;
        item := jsonb_strip_nulls(item - 'per');
        continue when item = '{}';
        names := names || own;
        insert into {schema}.limit_rule as l (name, key, queue, job_type, per, declared)
        values (own, md5(own)::uuid, case p_scope when 'queue' then p_name end, case p_scope when 'type' then p_name end, parts, item)
        on conflict (name) do update set declared = excluded.declared where l.declared is distinct from excluded.declared;
        perform {schema}.follow_declared(own);
    end loop;
    update {schema}.limit_rule l set declared = null
     where (l.queue = p_name and p_scope = 'queue' or l.job_type = p_name and p_scope = 'type') and l.edited
       and l.declared is not null and l.name <> all (names);
    delete from {schema}.limit_rule l
     where (l.queue = p_name and p_scope = 'queue' or l.job_type = p_name and p_scope = 'type') and not l.edited
       and l.name <> all (names);
    if found or cardinality(names) > 0 then
        perform {schema}.settle_limits();
    end if;
end
$$;

-- What is declared is in force, unless an operator said otherwise.
create function {schema}.follow_declared(p_name text) returns void
language plpgsql volatile as $$
begin
    update {schema}.limit_rule l
       set max_running = (l.declared ->> 'max_running')::integer, rate_count = (l.declared #>> '{rate,count}')::integer,
           rate_seconds = (l.declared #>> '{rate,seconds}')::double precision,
           rate_burst = coalesce((l.declared #>> '{rate,burst}')::integer, (l.declared #>> '{rate,count}')::integer),
           updated_at = {schema}.now()
     where l.name = p_name and not l.edited
       and (l.max_running, l.rate_count, l.rate_seconds, l.rate_burst) is distinct from
           ((l.declared ->> 'max_running')::integer, (l.declared #>> '{rate,count}')::integer,
            (l.declared #>> '{rate,seconds}')::double precision,
            coalesce((l.declared #>> '{rate,burst}')::integer, (l.declared #>> '{rate,count}')::integer));
end
$$;

-- The rate of a type as its definition has it: {"count": 10, "seconds": 60, "burst": 10}; anything else is none.
create function {schema}.set_rate(p_key text, p_rate jsonb) returns void
language plpgsql volatile as $$
declare
    own text := {schema}.limit_name('type', p_key, '{}');
    said jsonb := coalesce((select l.declared from {schema}.limit_rule l where l.name = own), '{}') - 'rate';
    others jsonb := (select coalesce(jsonb_agg(l.declared || jsonb_build_object('per', l.per)), '[]') from {schema}.limit_rule l
                      where l.job_type = p_key and l.name <> own and l.declared is not null);
begin
    if jsonb_typeof(p_rate) = 'object' then
        said := said || jsonb_build_object('rate', p_rate);
    end if;
    perform {schema}.declare_limits('type', p_key, others || (said || '{"per": []}'));
end
$$;

-- Which queues are claimed with limits, and which lanes job types have for their sake. Called after every change of limits,
-- of caps of tenants, and of where a type's jobs go. One at a time: each must see what the one before it said. A queue that
-- jobs of a limited type may still be in goes on as limited.
create function {schema}.settle_limits() returns void
language plpgsql volatile as $$
declare
    everywhere boolean;
    some_type boolean;
    changed boolean;
begin
    perform pg_advisory_xact_lock(hashtextextended('{schema} settle_limits', 0));
    everywhere := exists (select from {schema}.limit_rule l
                           where l.queue is null and l.job_type is null and num_nonnulls(l.max_running, l.rate_count) > 0)
        or exists (select from {schema}.tenant t where t.max_running is not null or t.raised_to is not null or t.status <> 'active');
    some_type := exists (select from {schema}.limit_rule l where l.job_type is not null);
    update {schema}.queue q set limited = s.limited
      from (select w.name, everywhere or w.limited and some_type
                   or exists (select from {schema}.limit_rule l where l.queue = w.name and num_nonnulls(l.max_running, l.rate_count) > 0)
                   or exists (select from {schema}.limit_rule l join {schema}.job_definition d on d.key = l.job_type
                               where d.queue = w.name and num_nonnulls(l.max_running, l.rate_count) > 0) as limited
              from {schema}.queue w) s
     where q.name = s.name and q.limited <> s.limited;
    changed := found;
    update {schema}.job_definition d set limit_lane = s.lane
      from (select f.key,
                   case when f.lane = 'type' and p.parts is null then null
                        when bool_or(l.job_type is not null) or p.parts is not null
                        then 'type' || coalesce('/' || p.parts, '') end as lane
              from {schema}.job_definition f
              join {schema}.limit_rule l on (l.job_type = f.key or l.queue = f.queue or l.queue is null and l.job_type is null)
               and num_nonnulls(l.max_running, l.rate_count) > 0
             cross join lateral (
                select string_agg(distinct u.part, '/') as parts
                  from {schema}.limit_rule r
                 cross join lateral (select e.part from unnest(r.per) as e(part) where e.part like 'payload.%'
                                     union select f.lane where f.lane like 'payload.%' and r.job_type = f.key) u
                 where (r.job_type = f.key or r.queue = f.queue or r.queue is null and r.job_type is null)
                   and num_nonnulls(r.max_running, r.rate_count) > 0) p
             group by f.key, f.lane, p.parts) s
     where d.key = s.key and d.limit_lane is distinct from s.lane;
    changed := changed or found;
    update {schema}.job_definition d set limit_lane = null
     where d.limit_lane is not null and not exists (
        select from {schema}.limit_rule l where (l.job_type = d.key or l.queue = d.queue or l.queue is null and l.job_type is null)
           and num_nonnulls(l.max_running, l.rate_count) > 0);
    if changed or found then
        perform {schema}.tell('%*');
    end if;
end
$$;

-- A queue that is new is under what holds everywhere.
create function {schema}.queue_made() returns trigger
language plpgsql as $$
begin
    new.limited := exists (select from {schema}.limit_rule l
                            where l.queue is null and l.job_type is null and num_nonnulls(l.max_running, l.rate_count) > 0)
        or exists (select from {schema}.tenant t where t.max_running is not null or t.raised_to is not null or t.status <> 'active');
    return new;
end
$$;
create trigger made before insert on {schema}.queue for each row execute function {schema}.queue_made();

-- What there is, for an error message that says what was probably meant: also for roles that see no table.
create function {schema}.job_type_names() returns setof text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select d.key from {schema}.job_definition d where d.is_active
    union select a.alias from {schema}.job_definition d, unnest(d.aliases) as a(alias) where d.is_active
    order by 1 limit 1000;
end
$$;

-- The rights of a worker that is not the schema's owner. What only an owner may do (making and dropping partitions)
-- is done by functions with the owner's rights.
create function {schema}.grant_worker(p_role text) returns void
language plpgsql volatile as $$
begin
    execute format('grant usage on schema {schema} to %I', p_role);
    execute format('grant select, insert, update, delete on all tables in schema {schema} to %I', p_role);
    execute format('grant usage on all sequences in schema {schema} to %I', p_role);
    execute format('grant execute on all functions in schema {schema} to %I', p_role);
end
$$;

-- The rights of an application that enqueues: functions and the intake, nothing else.
create function {schema}.grant_application(p_role text) returns void
language plpgsql volatile as $$
declare
    door text;
begin
    execute format('grant usage on schema {schema} to %I', p_role);
    execute format('grant insert on {schema}.intake to %I', p_role);
    execute format('grant select on {schema}.migration to %I', p_role);
    for door in
        select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
         where n.nspname = '{schema}'
           and p.proname in ('enqueue', 'enqueue_quick', 'enqueue_one', 'enqueue_keyed', 'enqueue_many', 'enqueue_intake', 'cancel_jobs',
                             'retry_jobs', 'replay_jobs', 'job_type_names', 'now', 'new_id', 'job_state',
                             'read_enqueue_rules', 'publish', 'publish_event', 'deliver_events', 'begin_artifact',
                             'find_place', 'keep_artifact', 'read_artifact', 'read_artifacts', 'door_delete_artifact', 'start_workflow', 'workflow',
                             'add_jobs', 'seal_batch', 'cancel_workflow', 'retry_workflow', 'release_steps',
                             'read_workflow', 'read_workflows', 'read_workflow_steps', 'read_workflow_edges', 'read_job_type_names',
                             'door_cancel_workflow', 'door_retry_workflow', 'door_release_steps')
    loop
        execute format('grant execute on function %s to %I', door, p_role);
    end loop;
end
$$;
