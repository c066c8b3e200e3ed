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
    rate jsonb;
begin
    for item in select t.item from jsonb_array_elements(p_types) as t(item) order by t.item ->> 'key' loop
        key := item ->> 'key';
        rate := item -> 'rate';
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
        new := jsonb_populate_record(old, item - 'rate' - 'version' - 'edited' - 'id');
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
        if status not in ('other_kind', 'other_queue') and 'rate' <> all (old.edited) then
            perform {schema}.set_rate(key, rate);
        end if;
        return next;
    end loop;
end
$$;

-- {"count": 10, "seconds": 60, "burst": 10}; anything else is no limit.
create function {schema}.set_rate(p_key text, p_rate jsonb) returns void
language plpgsql volatile as $$
begin
    if jsonb_typeof(p_rate) = 'object' then
        insert into {schema}.limit_rule as l (job_type, rate_count, rate_seconds, rate_burst)
        values (p_key, (p_rate ->> 'count')::integer, (p_rate ->> 'seconds')::double precision, (p_rate ->> 'burst')::integer)
        on conflict (job_type) do update set rate_count = excluded.rate_count, rate_seconds = excluded.rate_seconds,
            rate_burst = excluded.rate_burst
          where (l.rate_count, l.rate_seconds, l.rate_burst)
                is distinct from (excluded.rate_count, excluded.rate_seconds, excluded.rate_burst);
    else
        delete from {schema}.limit_rule l where l.job_type = p_key;
    end if;
end
$$;

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
