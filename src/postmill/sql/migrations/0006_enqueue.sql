-- postmill: safe
-- The front door. Nothing here commits, retries or raises for a refusal: a raise would abort the caller's
-- transaction. Each row's answer is a status: created | duplicate | unknown_type | inactive | invalid | other_type |
-- busy | serialization | moving | moved (detail: the cell), and of guarded definitions incomplete | secret | unencrypted (check_guarded).

-- A lane of a type whose limits count fields of the payload: one for each of their values (rule type/payload.a/payload.b).
create function {schema}.keyed_lane(p_rule text, p_tenant uuid, p_job_type text, p_payload jsonb) returns uuid
language plpgsql immutable parallel safe as $$
declare
    part text;
    worth text := p_tenant::text || ':' || p_job_type;
begin
    foreach part in array string_to_array(substr(p_rule, 6), '/') loop
        worth := worth || ':' || coalesce(p_payload #>> string_to_array(substr(part, 9), '.'), '');
    end loop;
    return (left(md5(p_job_type), 16) || left(md5(worth), 16))::uuid;
end
$$;

-- The lane of a job: its tenant's by default; md5 keeps it a uuid where type or a key decide. A key that the caller
-- names wins over the rule, except where a limit counts by type. Without the payload's field: the tenant's lane.
-- The first half of a lane of a type tells the type, so that a claim knows its limit without a row for each lane: a row
-- would be inserted by the first enqueue, and the next tenant's would wait for that one's transaction.
create function {schema}.lane_of(p_rule text, p_tenant uuid, p_job_type text, p_payload jsonb, p_key text) returns uuid
language sql immutable parallel safe as $$
    select case
        when p_rule = 'type' then (left(md5(p_job_type), 16) || left(md5(p_tenant::text || ':' || p_job_type), 16))::uuid
        when p_rule like 'type/%' then {schema}.keyed_lane(p_rule, p_tenant, p_job_type, p_payload)
        when p_key is not null then md5(p_tenant::text || ':' || p_key)::uuid
        when p_rule = 'tenant' then p_tenant
        when p_rule = 'none' then '00000000-0000-0000-0000-000000000000'::uuid
        else coalesce(md5(p_tenant::text || ':' || (p_payload #>> string_to_array(substr(p_rule, 9), '.')))::uuid, p_tenant)
    end
$$;

-- A refused row: unknown or inactive. An unknown name that is an alias is answered with the real key.
create function {schema}.refusal(p_job_type text, out status text, out detail text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    caller text := coalesce(nullif(current_setting('role', true), 'none'), session_user);
begin
    if exists (select from {schema}.job_definition d where d.key = p_job_type) then
        status := 'inactive';
        return;
    end if;
    select 'alias', d.key into status, detail from {schema}.job_definition d where d.aliases @> array[p_job_type];
    if not found then
        status := 'unknown_type';
        detail := case when has_function_privilege(caller, '{schema}.register_job_types(jsonb)', 'execute')
                  then 'may_register' end;
    end if;
end
$$;

-- Does this key of a payload name a secret? The rules of domain/redaction.py, word for word.
create function {schema}.names_secret(p_key text) returns boolean
language plpgsql immutable parallel safe as $$
declare
    words text[] := array(select m[1] from regexp_matches(
        lower(regexp_replace(left(p_key, 200), '([a-z0-9])(?=[A-Z])', '\1_', 'g')), '[a-z0-9]+', 'g') as m);
    joined text := array_to_string(words, '');
begin
    return joined ~ ('password|passwd|passphrase|secret|credential|apikey|accesskey|privatekey|encryptionkey|signingkey'
                     || '|routingkey|integrationkey|pagerdutykey|authorization|cookie|bearer|webhookurl')
        or coalesce(words[cardinality(words)] in ('token', 'pwd', 'pin', 'otp', 'jwt', 'dsn', 'auth', 'webhook', 'ssn', 'cvv',
                                                  'cvc', 'iban'), false);
end
$$;

-- The path of the first secret in a payload; NULL: there is none. Null and booleans are none: has_password = true.
create function {schema}.secret_in(p_payload jsonb, p_names text[]) returns text
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    found_at text;
begin
    with recursive walk (path, key, value) as (
        select 'args', null::text, p_payload
        union all
        select w.path || case when inner_one.n is null then '.' || inner_one.key else '[' || inner_one.n || ']' end,
               inner_one.key, inner_one.value
          from walk w
         cross join lateral (
            select e.key, null::bigint as n, e.value
              from jsonb_each(case when jsonb_typeof(w.value) = 'object' then w.value else '{}' end) e
            union all
            select null, a.n - 1, a.value
              from jsonb_array_elements(case when jsonb_typeof(w.value) = 'array' then w.value else '[]' end)
                   with ordinality as a(value, n)) inner_one
    )
    select left(w.path, 200) into found_at from walk w
     where w.key is not null and jsonb_typeof(w.value) not in ('null', 'boolean')
       and (w.key = any (p_names) or {schema}.names_secret(w.key)) limit 1;
    return found_at;
end
$$;

-- What a guarded definition asks of a job. NULL: all is well. incomplete: detail names the field of the envelope that
-- is missing (the default tenant does not count as named, nor does one that does not exist); secret: detail is the path;
-- unencrypted: the caller must seal the payload. p_replay: the envelope is that of the job which runs again.
create function {schema}.check_guarded(
    p_job_type text, p_payload jsonb, p_tenant uuid, p_actor_id text, p_request_id text, p_correlation_id text, p_key text,
    p_replay boolean, out status text, out detail text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    definition record;
begin
    select d.strict_envelope, d.encrypted, d.secrets, d.secret_keys into definition
      from {schema}.job_definition d where d.key = p_job_type;
    if definition.strict_envelope and not p_replay then
        detail := case
            when p_tenant is null or p_tenant = '00000000-0000-0000-0000-000000000001'
              or not exists (select from {schema}.tenant t where t.id = p_tenant) then 'org_id'
            when coalesce(p_actor_id, '') = '' then 'actor_id'
            when coalesce(p_request_id, '') = '' then 'request_id'
            when coalesce(p_correlation_id, '') = '' then 'correlation_id'
            when coalesce(p_key, '') = '' then 'idempotency_key'
            when jsonb_typeof(p_payload) is distinct from 'object' then 'payload' end;
        if detail is not null then
            status := 'incomplete';
            return;
        end if;
    end if;
    if p_payload ? '$encrypted' then
        return;
    end if;
    if definition.secrets = 'refuse' then
        detail := {schema}.secret_in(p_payload, definition.secret_keys);
        if detail is not null then
            status := 'secret';
            return;
        end if;
    end if;
    if definition.encrypted then
        status := 'unencrypted';
    end if;
end
$$;

-- What is wrong with a job's payload or options, as `option: what`, or NULL: what the server would answer with an error
-- of its own, what would stop those who read it later, and what Python refuses before it asks. A moment must be one
-- that a calendar has: infinity cannot be subtracted before 17, and clients cannot read a year of five digits.
create function {schema}.fault_of(
    p_payload jsonb, p_delay interval, p_scheduled_for timestamptz, p_max_attempts integer,
    p_timeout_seconds double precision, p_source text, p_source_ref text, p_actor_type text, p_actor_id text,
    p_request_id text, p_correlation_id text, p_traceparent text) returns text
language sql stable parallel safe as $$
    select case
        when jsonb_typeof(p_payload) is distinct from 'object'
            then 'payload: must be a JSON object, not ' || coalesce(jsonb_typeof(p_payload), 'NULL')
        when pg_column_size(p_payload) > 16777216 then 'payload: has more than 16 MiB'
        when p_delay not between interval '-3650 days' and interval '3650 days'
            then 'delay: must be at most ten years'
        when p_scheduled_for not between timestamptz '0001-01-02 00:00+00' and timestamptz '9999-12-31 00:00+00'
            or p_scheduled_for + coalesce(p_delay, '0') > timestamptz '9999-12-31 00:00+00'
            then 'scheduled_for: must be a moment before the end of the year 9999'
        when p_max_attempts < 1 then 'max_attempts: must be 1 or more, not ' || p_max_attempts
        when not (p_timeout_seconds > 0 and p_timeout_seconds <= 315360000)
            then 'timeout: must be more than 0 seconds and at most ten years, not ' || p_timeout_seconds
        when p_source not in ('manual', 'event', 'schedule', 'system')
            then 'source: is none of manual, event, schedule, system'
        when p_actor_type not in ('user', 'system', 'api_key') then 'actor_type: is none of user, system, api_key'
        when octet_length(p_source_ref) > 512 then 'source_ref: has more than 512 bytes'
        when octet_length(p_actor_id) > 512 then 'actor_id: has more than 512 bytes'
        when octet_length(p_request_id) > 512 then 'request_id: has more than 512 bytes'
        when octet_length(p_correlation_id) > 512 then 'correlation_id: has more than 512 bytes'
        when octet_length(p_traceparent) > 512 then 'traceparent: has more than 512 bytes'
    end
$$;

-- One job without a key, with every option. One look-up, two inserts, one probe for sleepers. made_at is its created_at:
-- whoever read that from the partitions afterwards would pay for half an enqueue.
create function {schema}.enqueue_one(
    p_job_type text, p_payload jsonb, p_tenant uuid, p_priority integer default null, p_delay interval default null,
    p_scheduled_for timestamptz default null, p_project uuid default null, p_max_attempts integer default null,
    p_timeout_seconds double precision default null, p_expires_at timestamptz default null,
    p_source text default null, p_source_ref text default null, p_actor_type text default null,
    p_actor_id text default null, p_request_id text default null, p_correlation_id text default null,
    p_traceparent text default null, p_key text default null, p_replayed_from uuid default null,
    p_id uuid default null, p_lane_key text default null, p_workflow uuid default null, out id uuid, out status text,
    out detail text, out made_at timestamptz)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    found_one record;
    moment timestamptz := {schema}.now();
    due timestamptz;
    tenant uuid := coalesce(p_tenant, '00000000-0000-0000-0000-000000000001');
    urgency integer;
    own_lane uuid;
    parked boolean := false;
begin
    select d.queue, d.priority, d.max_attempts, d.timeout_seconds, coalesce(d.limit_lane, d.lane) as lane, d.guarded, h.since, h.until, h.gated
      into found_one
      from {schema}.job_definition d, {schema}.partition_horizon h
     where d.key = p_job_type and d.is_active;
    if not found then
        select r.status, r.detail into status, detail from {schema}.refusal(p_job_type) r;
        if status = 'alias' then
            select e.id, e.status, e.detail, e.made_at into id, status, detail, made_at
              from {schema}.enqueue_one(detail, p_payload, p_tenant, p_priority, p_delay, p_scheduled_for, p_project,
                  p_max_attempts, p_timeout_seconds, p_expires_at, p_source, p_source_ref, p_actor_type, p_actor_id,
                  p_request_id, p_correlation_id, p_traceparent, p_key, p_replayed_from, p_id, p_lane_key, p_workflow) e;
        end if;
        return;
    end if;
    detail := {schema}.fault_of(p_payload, p_delay, p_scheduled_for, p_max_attempts, p_timeout_seconds, p_source,
        p_source_ref, p_actor_type, p_actor_id, p_request_id, p_correlation_id, p_traceparent);
    if detail is not null then
        status := 'invalid';
        return;
    end if;
    if found_one.gated then
        select g.answer, g.cell into status, detail from {schema}.gate(tenant) g;
        parked := coalesce(status = 'parked', false);
        if status is not null and not parked then
            return;
        end if;
    end if;
    if found_one.guarded then
        select g.status, g.detail into status, detail
          from {schema}.check_guarded(p_job_type, p_payload, p_tenant, p_actor_id, p_request_id, p_correlation_id, p_key,
              p_replayed_from is not null) g;
        if status is not null then
            return;
        end if;
    end if;
    -- Here and below the transaction has its number before the job has its id (see count_enqueues).
    id := case when pg_current_xact_id() is not null then coalesce(p_id, {schema}.new_id()) end;
    status := 'created';
    made_at := moment;
    urgency := coalesce(p_priority, found_one.priority);
    if found_one.lane = 'tenant' and p_lane_key is null then
        own_lane := tenant;
    else
        own_lane := {schema}.lane_of(found_one.lane, tenant, p_job_type, p_payload, p_lane_key);
    end if;
    due := coalesce(p_scheduled_for, moment) + coalesce(p_delay, '0');
    if moment >= found_one.since and moment < found_one.until - interval '1 second' then
        insert into {schema}.job (id, tenant_id, project_id, job_type, queue, payload, priority, max_attempts,
            timeout_seconds, created_at, scheduled_for, expires_at, source, source_ref, actor_type, actor_id, request_id,
            correlation_id, traceparent, idempotency_key, replayed_from, workflow_id)
        values (id, tenant, p_project, p_job_type, found_one.queue, p_payload, urgency,
            coalesce(p_max_attempts, found_one.max_attempts), coalesce(p_timeout_seconds, found_one.timeout_seconds), moment,
            case when due > moment then due end, p_expires_at, coalesce(p_source, 'manual'), p_source_ref,
            coalesce(p_actor_type, 'system'), p_actor_id, p_request_id, p_correlation_id, p_traceparent, p_key,
            p_replayed_from, p_workflow);
    else
        -- No partition is there for it: nobody has looked after this database for weeks, or the clock stepped back. Made
        -- here, it would be locked, and everybody wait for it, until the caller's transaction ends.
        insert into {schema}.job_kept (id, tenant_id, project_id, job_type, queue, payload, priority, max_attempts,
            timeout_seconds, created_at, scheduled_for, expires_at, source, source_ref, actor_type, actor_id, request_id,
            correlation_id, traceparent, idempotency_key, replayed_from, workflow_id)
        values (id, tenant, p_project, p_job_type, found_one.queue, p_payload, urgency,
            coalesce(p_max_attempts, found_one.max_attempts), coalesce(p_timeout_seconds, found_one.timeout_seconds), moment,
            case when due > moment then due end, p_expires_at, coalesce(p_source, 'manual'), p_source_ref,
            coalesce(p_actor_type, 'system'), p_actor_id, p_request_id, p_correlation_id, p_traceparent, p_key,
            p_replayed_from, p_workflow);
    end if;
    if parked then
        detail := null;
        insert into {schema}.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
        values (found_one.queue, own_lane, {schema}.parked_at(greatest(due, moment), due <= moment), id, urgency, 1, 0, 0);
    elsif due > moment then
        insert into {schema}.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
        values (found_one.queue, own_lane, due, id, urgency, 1, 0, 0);
    else
        insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
        values (found_one.queue, own_lane, urgency, {schema}.now(), id, 1, 0, 0);
        if exists (select from {schema}.sleeper s where s.queue = found_one.queue and s.watch
                        and s.valid_until > moment)
            or current_setting('transaction_isolation') <> 'read committed'
        then
            perform {schema}.ring(found_one.queue, own_lane, urgency);
        end if;
    end if;
end
$$;

-- The leanest path: a job that says nothing but its type, payload, tenant and priority. One statement does look-up and
-- inserts, since what a statement and an expression cost is paid anew in each transaction (a fifth less in the server).
-- NULL: not plain after all (an unknown type, another lane, a missing partition); nothing was done, enqueue_one answers.
create function {schema}.enqueue_quick(
    p_job_type text, p_payload jsonb, p_tenant uuid, p_priority integer default null) returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    own uuid;
    home text;
    own_lane uuid;
    urgency integer;
begin
    with body as (
        insert into {schema}.job as j (id, tenant_id, job_type, queue, payload, priority, max_attempts, timeout_seconds,
            created_at, source, actor_type)
        select {schema}.new_id(), coalesce(p_tenant, '00000000-0000-0000-0000-000000000001'), d.key, d.queue, p_payload,
               coalesce(p_priority, d.priority), d.max_attempts, d.timeout_seconds, m.moment, 'manual', 'system'
          from (select {schema}.now() as moment) m, {schema}.job_definition d, {schema}.partition_horizon h
         where d.key = p_job_type and d.is_active and not d.guarded and coalesce(d.limit_lane, d.lane) = 'tenant' and m.moment >= h.since and m.moment < h.until
           and (not h.gated or not exists (select from {schema}.tenant_gate g
                    where g.tenant_id = coalesce(p_tenant, '00000000-0000-0000-0000-000000000001')))
           and pg_current_xact_id() is not null
        returning j.id, j.queue, j.tenant_id, j.priority, j.created_at
    )
    insert into {schema}.ready as r (queue, lane, priority, ready_at, id, attempt, run, lost)
    select b.queue, b.tenant_id, b.priority, b.created_at, b.id, 1, 0, 0 from body b
    returning r.id, r.queue, r.lane, r.priority into own, home, own_lane, urgency;
    if exists (select from {schema}.sleeper s where s.queue = home and s.watch and s.valid_until > (select {schema}.now()))
        or current_setting('transaction_isolation') <> 'read committed'
    then
        perform {schema}.ring(home, own_lane, urgency);
    end if;
    return own;
end
$$;

-- Many jobs without keys in one statement. A NULL array means that no row uses that option. What it cannot take (refused
-- rows, aliases, no partition) goes to enqueue_one row by row.
create function {schema}.enqueue_plain(
    p_n integer[], p_job_types text[], p_payloads jsonb[], p_tenants uuid[], p_priorities integer[], p_delays interval[],
    p_scheduled_for timestamptz[], p_projects uuid[], p_max_attempts integer[], p_timeouts double precision[],
    p_expires_at timestamptz[], p_sources text[], p_source_refs text[], p_actor_types text[], p_actor_ids text[],
    p_request_ids text[], p_correlation_ids text[], p_traceparents text[], p_lane_keys text[], p_workflow uuid default null)
returns table (n integer, id uuid, status text, detail text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
    rung record;
    ids uuid[];
    numbers integer[];
    lanes uuid[];
    queues text[];
    urgencies integer[];
    refused boolean;
begin
    perform pg_current_xact_id();
    with asked as materialized (
        select u.*, coalesce(u.tenant, '00000000-0000-0000-0000-000000000001') as tenant_id
          from unnest(p_n, p_job_types, p_payloads, p_tenants, p_priorities, p_delays, p_scheduled_for, p_projects,
               p_max_attempts, p_timeouts, p_expires_at, p_sources, p_source_refs, p_actor_types, p_actor_ids,
               p_request_ids, p_correlation_ids, p_traceparents, p_lane_keys)
               as u(n, job_type, payload, tenant, priority, delay, at, project, attempts, timeout, expires, source,
                    source_ref, actor_type, actor_id, request_id, correlation_id, traceparent, lane_key)
    ), known as materialized (
        select a.*, {schema}.new_id() as id, d.key, d.queue, coalesce(a.priority, d.priority) as urgency,
               coalesce(a.attempts, d.max_attempts) as most, coalesce(a.timeout, d.timeout_seconds) as seconds,
               case when d.lane = 'tenant' and d.limit_lane is null and a.lane_key is null then a.tenant_id
                    else {schema}.lane_of(coalesce(d.limit_lane, d.lane), a.tenant_id, d.key, a.payload, a.lane_key) end as lane,
               d.lane as lane_rule, coalesce(a.at, moment) + coalesce(a.delay, '0') as due
          from asked a join {schema}.job_definition d on d.key = a.job_type and d.is_active and not d.guarded
         where {schema}.fault_of(a.payload, a.delay, a.at, a.attempts, a.timeout, a.source, a.source_ref, a.actor_type,
                   a.actor_id, a.request_id, a.correlation_id, a.traceparent) is null
           and exists (select from {schema}.partition_horizon h
                        where moment >= h.since and moment < h.until - interval '1 second'
                          and (not h.gated or not exists (select from {schema}.tenant_gate g where g.tenant_id = a.tenant_id)))
    ), bodies as (
        insert into {schema}.job (id, tenant_id, project_id, job_type, queue, payload, priority, max_attempts,
            timeout_seconds, created_at, scheduled_for, expires_at, source, source_ref, actor_type, actor_id,
            request_id, correlation_id, traceparent, workflow_id)
        select k.id, k.tenant_id, k.project, k.key, k.queue, k.payload, k.urgency, k.most, k.seconds, moment,
               case when k.due > moment then k.due end, k.expires, coalesce(k.source, 'manual'), k.source_ref,
               coalesce(k.actor_type, 'system'), k.actor_id, k.request_id, k.correlation_id, k.traceparent,
               p_workflow
          from known k
    ), due_now as (
        insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
        select k.queue, k.lane, k.urgency, {schema}.now(), k.id, 1, 0, 0 from known k where k.due <= moment
    ), due_later as (
        insert into {schema}.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
        select k.queue, k.lane, k.due, k.id, k.urgency, 1, 0, 0 from known k where k.due > moment
    )
    select array_agg(k.n), array_agg(k.id), array_agg(case when k.due <= moment then k.queue end),
           array_agg(k.lane), array_agg(k.urgency)
      into numbers, ids, queues, lanes, urgencies
      from known k;

    for rung in
        select r.queue, count(*) as wide, (array_agg(r.lane))[1:16] as lanes, (array_agg(r.urgency))[1:16] as urgencies
          from (select distinct u.queue, u.lane, u.urgency
                  from unnest(queues, lanes, urgencies) as u(queue, lane, urgency) where u.queue is not null) r
         group by r.queue
    loop
        if rung.wide > 16 then
            perform {schema}.ring(rung.queue);
        else
            perform {schema}.ring(rung.queue, u.lane, u.urgency) from unnest(rung.lanes, rung.urgencies) as u(lane, urgency);
        end if;
    end loop;

    return query select u.n, u.id, 'created', null::text from unnest(numbers, ids) as u(n, id);
    if coalesce(cardinality(ids), 0) < cardinality(p_n) then
        return query
        select u.n, e.id, e.status, e.detail
          from unnest(p_n, p_job_types) with ordinality as u(n, job_type, i)
         cross join lateral {schema}.enqueue_one(u.job_type, p_payloads[u.i], p_tenants[u.i], p_priorities[u.i],
               p_delays[u.i], p_scheduled_for[u.i], p_projects[u.i], p_max_attempts[u.i], p_timeouts[u.i],
               p_expires_at[u.i], p_sources[u.i], p_source_refs[u.i], p_actor_types[u.i], p_actor_ids[u.i],
               p_request_ids[u.i], p_correlation_ids[u.i], p_traceparents[u.i], p_lane_key => p_lane_keys[u.i],
               p_workflow => p_workflow) e
         where u.n <> all (coalesce(numbers, '{}'));
    end if;
end
$$;
