-- postmill: safe
-- Enqueue under an idempotency key, and the public set-returning and single functions above both paths.

-- What is wrong with a key, its mode or its length of life; as fault_of. The index takes no key of 3 kB.
create function {schema}.fault_of_key(p_key text, p_mode text, p_ttl interval) returns text
language sql stable parallel safe as $$
    select case
        when octet_length(p_key) not between 1 and 512
            then 'key: has ' || octet_length(p_key) || ' bytes; 1 to 512 are allowed'
        when p_mode not in ('active', 'queued', 'window', 'ttl')
            then 'mode: "' || left(p_mode, 40) || '" is none of active, queued, window, ttl'
        when p_ttl not between interval '1 microsecond' and interval '3650 days'
            then 'ttl: must be more than nothing and at most ten years'
    end
$$;

-- What a payload says in the arguments that make a key's content; NULL where the definition names none.
create function {schema}.content_of(p_names text[], p_payload jsonb) returns text
language plpgsql immutable parallel safe as $$
begin
    return (select encode(sha256(convert_to(jsonb_agg(p_payload -> u.name order by u.n)::text, 'UTF8')), 'hex')
              from unnest(p_names) with ordinality as u(name, n));
end
$$;

-- One job under a key. Decided on committed facts: the insert waits for another transaction with the same key,
-- and if the key was taken, a new statement looks whether its holder is still live. Where the definition names the arguments
-- that make the content, other content under a held key is a new job: it takes the key over, and the holder is canceled if it
-- still waits (one that runs is left to end). A replay brings old content, and never does that.
create function {schema}.enqueue_keyed(
    p_key text, p_mode text, p_ttl interval, p_job_type text, p_payload jsonb, p_tenant uuid,
    p_priority integer default null, p_delay interval default null, p_scheduled_for timestamptz default null,
    p_project uuid default null, p_max_attempts integer default null, p_timeout_seconds double precision default null,
    p_expires_at timestamptz default null, p_source text default null, p_source_ref text default null,
    p_actor_type text default null, p_actor_id text default null, p_request_id text default null,
    p_correlation_id text default null, p_traceparent text default null, p_replayed_from uuid default null,
    p_lane_key text default null, out id uuid, out status text, out detail text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    zero constant uuid := '00000000-0000-0000-0000-000000000000';
    -- The transaction has its number before the job has its id: a wait for the key must not fall between (count_enqueues).
    own uuid := case when pg_current_xact_id() is not null then {schema}.new_id() end;
    owner_tenant uuid := coalesce(p_tenant, '00000000-0000-0000-0000-000000000001');
    owner_project uuid := coalesce(p_project, zero);
    definition record;
    held {schema}.idempotency_key;
    live boolean;
    own_mode text;
    own_ttl interval;
    own_content text;
begin
    select d.key, d.guarded, d.idempotency, d.idempotency_ttl, d.idempotency_content into definition
      from {schema}.job_definition d where d.key = p_job_type and d.is_active;
    if not found then
        select r.status, r.detail into status, detail from {schema}.refusal(p_job_type) r;
        if status <> 'alias' then
            return;
        end if;
        select d.key, d.guarded, d.idempotency, d.idempotency_ttl, d.idempotency_content into definition
          from {schema}.job_definition d where d.key = detail and d.is_active;
        detail := null;
        if not found then
            status := 'inactive';
            return;
        end if;
    end if;
    if definition.guarded then
        -- Before the key is looked at: also what would turn out to be a duplicate must be whole.
        select g.status, g.detail into status, detail
          from {schema}.check_guarded(definition.key, p_payload, p_tenant, p_actor_id, p_request_id, p_correlation_id, p_key,
              p_replayed_from is not null) g;
        if status is not null then
            return;
        end if;
    end if;
    detail := {schema}.fault_of_key(p_key, p_mode, p_ttl);
    if detail is not null then
        status := 'invalid';
        return;
    end if;
    own_mode := coalesce(p_mode, definition.idempotency, 'active');
    own_ttl := coalesce(p_ttl, definition.idempotency_ttl, case own_mode when 'window' then interval '24 hours'
                                                                 when 'ttl' then interval '30 days' end);
    if definition.idempotency_content is not null then
        own_content := {schema}.content_of(definition.idempotency_content, p_payload);
    end if;
    begin
        insert into {schema}.idempotency_key as k
            (tenant_id, project_id, key, job_type, job_id, mode, content, first_seen_at, last_seen_at, expires_at)
        values (owner_tenant, owner_project, p_key, definition.key, own, own_mode, own_content, {schema}.now(), {schema}.now(),
                case when own_mode in ('window', 'ttl') then {schema}.now() + own_ttl end)
        on conflict (tenant_id, project_id, key) do update set last_seen_at = excluded.last_seen_at
        returning k.* into held;
        if held.job_id <> own then
            live := case
                when held.mode = 'active' then {schema}.is_live(held.job_id)
                when held.mode = 'queued' then {schema}.is_waiting(held.job_id)
                else held.expires_at > {schema}.now()
            end;
            if live and held.job_type <> definition.key then
                id := held.job_id;
                status := 'other_type';
                detail := held.job_type;
                return;
            elsif live and (own_content is null or held.content = own_content or p_replayed_from is not null) then
                id := held.job_id;
                status := 'duplicate';
                return;
            elsif live and {schema}.is_waiting(held.job_id) then
                perform {schema}.cancel_jobs(array[held.job_id], p_actor_type, p_actor_id, 'superseded by ' || own);
            end if;
            update {schema}.idempotency_key k
               set job_id = own, job_type = definition.key, mode = own_mode, content = own_content, first_seen_at = {schema}.now(),
                   expires_at = case when own_mode in ('window', 'ttl') then {schema}.now() + own_ttl end
             where k.tenant_id = owner_tenant and k.project_id = owner_project and k.key = p_key;
        end if;
        select e.id, e.status, e.detail into id, status, detail
          from {schema}.enqueue_one(definition.key, p_payload, owner_tenant, p_priority, p_delay, p_scheduled_for,
              p_project, p_max_attempts, p_timeout_seconds, p_expires_at, p_source, p_source_ref, p_actor_type,
              p_actor_id, p_request_id, p_correlation_id, p_traceparent, p_key, p_replayed_from, own, p_lane_key) e;
        if status <> 'created' then
            -- Invalid, or switched off since the look: the key must not speak of a job that never was.
            raise exception using errcode = 'PM001';
        end if;
    exception
        when sqlstate 'PM001' then
            id := null;
        when lock_not_available then
            id := null;
            status := 'busy';
        when deadlock_detected or serialization_failure then
            id := null;
            status := 'serialization';
    end;
end
$$;

-- Has the job still a ticket that will run or runs?
create function {schema}.is_live(p_id uuid) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    return exists (select from {schema}.ready t where t.id = p_id)
        or exists (select from {schema}.running t where t.id = p_id)
        or exists (select from {schema}.scheduled t where t.id = p_id)
        or exists (select from {schema}.blocked t where t.id = p_id);
end
$$;

-- Does the job certainly still wait? Its ticket is locked until the caller's transaction ends: without that a
-- claim could slip between the look and the commit, and the caller's change would be lost (seen in a trial).
create function {schema}.is_waiting(p_id uuid) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform from {schema}.ready t where t.id = p_id for update skip locked;
    if found then return true; end if;
    perform from {schema}.scheduled t where t.id = p_id for update skip locked;
    if found then return true; end if;
    perform from {schema}.blocked t where t.id = p_id for update skip locked;
    return found;
end
$$;

-- The stable function that the clients call. n in the answer is the position in the arrays, from 1. Rows with a
-- key are taken in the order of their keys, so that two callers with crossed keys cannot deadlock. p_wait bounds
-- the wait for another transaction that holds an equal key; beyond it the row is 'busy'.
create function {schema}.enqueue_many(
    p_job_types text[], p_payloads jsonb[], p_tenants uuid[] default null, p_keys text[] default null,
    p_modes text[] default null, p_ttls interval[] default null, p_priorities integer[] default null,
    p_delays interval[] default null, p_scheduled_for timestamptz[] default null, p_projects uuid[] default null,
    p_max_attempts integer[] default null, p_timeouts double precision[] default null,
    p_expires_at timestamptz[] default null, p_sources text[] default null, p_source_refs text[] default null,
    p_actor_types text[] default null, p_actor_ids text[] default null, p_request_ids text[] default null,
    p_correlation_ids text[] default null, p_traceparents text[] default null, p_wait interval default null,
    p_lane_keys text[] default null, p_tags jsonb[] default null)
returns table (n integer, id uuid, status text, detail text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    row_no integer;
    wide integer := greatest(cardinality(p_job_types), cardinality(p_payloads), cardinality(p_keys));
    before text := current_setting('lock_timeout');
begin
    if p_keys is null and p_tags is null then
        return query select * from {schema}.enqueue_plain(
            (select array_agg(g) from generate_series(1, wide) g), p_job_types, p_payloads, p_tenants,
            p_priorities, p_delays, p_scheduled_for, p_projects, p_max_attempts, p_timeouts, p_expires_at, p_sources,
            p_source_refs, p_actor_types, p_actor_ids, p_request_ids, p_correlation_ids, p_traceparents, p_lane_keys);
        return;
    end if;
    if p_wait is not null then
        perform set_config('lock_timeout', 
            least(2147483647, greatest(1, extract(epoch from p_wait) * 1000))::integer || 'ms', true);
    end if;
    for row_no in select g.n from generate_series(1, wide) as g(n)
                   order by p_keys[g.n] collate "C" nulls last, g.n loop
        n := row_no;
        if p_tags[row_no] is not null and {schema}.fault_of_tags(p_tags[row_no]) is not null then
            id := null;
            status := 'invalid';
            detail := {schema}.fault_of_tags(p_tags[row_no]);
        elsif p_keys[row_no] is null then
            select e.id, e.status, e.detail into id, status, detail
              from {schema}.enqueue_one(p_job_types[row_no], p_payloads[row_no], p_tenants[row_no],
                  p_priorities[row_no], p_delays[row_no], p_scheduled_for[row_no], p_projects[row_no],
                  p_max_attempts[row_no], p_timeouts[row_no], p_expires_at[row_no], p_sources[row_no],
                  p_source_refs[row_no], p_actor_types[row_no], p_actor_ids[row_no], p_request_ids[row_no],
                  p_correlation_ids[row_no], p_traceparents[row_no], p_lane_key => p_lane_keys[row_no]) e;
        else
            select e.id, e.status, e.detail into id, status, detail
              from {schema}.enqueue_keyed(p_keys[row_no], p_modes[row_no], p_ttls[row_no], p_job_types[row_no],
                  p_payloads[row_no], p_tenants[row_no], p_priorities[row_no], p_delays[row_no],
                  p_scheduled_for[row_no], p_projects[row_no], p_max_attempts[row_no], p_timeouts[row_no],
                  p_expires_at[row_no], p_sources[row_no], p_source_refs[row_no], p_actor_types[row_no],
                  p_actor_ids[row_no], p_request_ids[row_no], p_correlation_ids[row_no], p_traceparents[row_no],
                  p_lane_key => p_lane_keys[row_no]) e;
        end if;
        if status = 'created' and p_tags[row_no] is not null then
            perform {schema}.keep_tags(id, p_tenants[row_no], p_tags[row_no]);
        end if;
        return next;
    end loop;
    if p_wait is not null then
        perform set_config('lock_timeout', before, true);
    end if;
end
$$;

-- For psql, triggers and any other language: one job, its id as the answer, an error that explains a refusal.
create function {schema}.enqueue(
    job_type text, payload jsonb default '{}', tenant uuid default null, key text default null,
    delay interval default null, scheduled_for timestamptz default null, priority integer default null,
    project uuid default null, mode text default null, ttl interval default null, actor_type text default null,
    actor_id text default null, request_id text default null, correlation_id text default null,
    traceparent text default null, tags text[] default null) returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    answer record;
    fault text;
begin
    if tags is not null then
        fault := {schema}.fault_of_tags(to_jsonb(tags));
    end if;
    if fault is not null then
        raise exception 'postmill: no job of type "%" was made: %', job_type, fault using errcode = 'invalid_parameter_value';
    elsif key is null then
        answer := {schema}.enqueue_one(job_type, payload, tenant, priority, delay, scheduled_for, project, null, null, null,
            null, null, actor_type, actor_id, request_id, correlation_id, traceparent);
    else
        answer := {schema}.enqueue_keyed(key, mode, ttl, job_type, payload, tenant, priority, delay, scheduled_for, project,
            null, null, null, null, null, actor_type, actor_id, request_id, correlation_id, traceparent);
    end if;
    if tags is not null and answer.status = 'created' then
        perform {schema}.keep_tags(answer.id, tenant, to_jsonb(tags));
    end if;
    case answer.status
        when 'created', 'duplicate' then
            return answer.id;
        when 'unknown_type' then
            raise exception 'postmill: unknown job type "%"', left(job_type, 200) using errcode = 'undefined_object',
                hint = coalesce('Did you mean "' || (select d.key from {schema}.job_definition d
                    where left(d.key, 1) = left(job_type, 1) or d.key like '%' || job_type || '%'
                    order by abs(length(d.key) - length(job_type)), d.key limit 1) || '"? ', '')
                    || 'Register it: postmill jobs register MODULE';
        when 'inactive' then
            raise exception 'postmill: job type "%" is not active', job_type using errcode = 'object_not_in_prerequisite_state';
        when 'invalid' then
            raise exception 'postmill: no job of type "%" was made: %', job_type, answer.detail
                using errcode = 'invalid_parameter_value';
        when 'other_type' then
            raise exception 'postmill: key "%" belongs to a job of type "%"', key, answer.detail using errcode = 'unique_violation';
        when 'incomplete' then
            raise exception 'postmill: a job of type "%" needs %: its definition has a strict envelope', job_type, answer.detail
                using errcode = 'not_null_violation', column = answer.detail;
        when 'secret' then
            raise exception 'postmill: % looks like a secret, which jobs of type "%" must not carry', answer.detail, job_type
                using errcode = 'invalid_parameter_value', hint = 'Pass a reference to it.';
        when 'unencrypted' then
            raise exception 'postmill: payloads of type "%" are encrypted, which SQL cannot do', job_type
                using errcode = 'feature_not_supported', hint = 'Enqueue from Python, over HTTP or by postmill enqueue.';
        when 'busy' then
            raise exception 'postmill: key "%" is locked by another transaction', key using errcode = 'lock_not_available';
        when 'moving', 'moved' then
            perform {schema}.refuse_away(tenant, answer.status, answer.detail);
        else
            raise exception 'postmill: the transaction must be tried again (%)', answer.status using errcode = 'serialization_failure';
    end case;
end
$$;

-- Moves what COPY laid into intake under this batch into jobs and tickets, in the same transaction.
create function {schema}.enqueue_intake(p_batch uuid)
returns table (n integer, id uuid, status text, detail text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    rows record;
begin
    with gone as (
        delete from {schema}.intake i where i.batch = p_batch returning i.*
    ), sorted as (select g.* from gone g order by g.n)
    select array_agg(s.n) as n, array_agg(s.job_type) as types, array_agg(s.payload) as payloads,
           array_agg(s.tenant_id) as tenants, array_agg(s.priority) as priorities, array_agg(s.delay) as delays
      into rows from sorted s;
    if rows.n is null then
        return;
    end if;
    return query select * from {schema}.enqueue_plain(rows.n, rows.types, rows.payloads, rows.tenants, rows.priorities,
        rows.delays, null, null, null, null, null, null, null, null, null, null, null, null, null);
end
$$;
