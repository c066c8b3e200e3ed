-- postmill: safe
-- What a request may do to jobs, dead letters and queues. Each door checks the scope by itself and writes the audit log.

-- begin_request for one that is sent in one go with what follows it: here a key that opens no longer must stop the rest.
create function {schema}.enter_request(p_tenant uuid, p_platform boolean, p_via text, p_actor_type text, p_actor_id text,
    p_role text, p_request_id text, p_address text default null) returns void
language plpgsql volatile as $$
begin
    if not {schema}.begin_request(p_tenant, p_platform, p_via, p_actor_type, p_actor_id, p_role, p_request_id, p_address) then
        raise exception 'postmill: the key % opens no longer', p_actor_id using errcode = 'invalid_authorization_specification';
    end if;
end
$$;

-- Who acts, for rows that keep it: as begin_request or set_actor said.
create function {schema}.acting_type() returns text
language plpgsql stable as $$
begin
    return coalesce(nullif(current_setting('postmill.actor_type', true), ''), 'user');
end
$$;

create function {schema}.acting_id() returns text
language plpgsql stable as $$
begin
    return coalesce(nullif(current_setting('postmill.actor_id', true), ''), session_user::text);
end
$$;

-- For callers that began no request and named no actor (the CLI, Python): this one, if any. A request's actor is never
-- replaced.
create function {schema}.act_as(p_actor_type text, p_actor_id text) returns void
language plpgsql volatile as $$
begin
    if p_actor_id is not null and coalesce(current_setting('postmill.actor_id', true), '') = '' then
        perform set_config('postmill.actor_type', coalesce(p_actor_type, 'user'), true),
                set_config('postmill.actor_id', p_actor_id, true);
    end if;
end
$$;

-- One job. p_version is the version of the definition that the payload was checked against: with another one the answer
-- is changed, nothing was done, and the caller checks again. state and created_at are those of the job that the answer
-- names. Statuses beside those of enqueue_one: changed | unknown_tenant | unknown_project | suspended.
create function {schema}.door_enqueue(p_job_type text, p_version integer, p_payload jsonb, p_tenant uuid, p_project uuid,
    p_priority integer, p_scheduled_for timestamptz, p_key text, p_mode text, p_correlation_id text, p_traceparent text,
    p_tags jsonb default null, out id uuid, out status text, out detail text, out tenant_id uuid, out state text, out created_at timestamptz)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    origin text := nullif(current_setting('postmill.request_id', true), '');
    by_type text := {schema}.acting_type();
    by_id text := {schema}.acting_id();
    standing text;
    current_version integer;
    answer record;
begin
    tenant_id := coalesce(p_tenant, {schema}.scope_tenant(), '00000000-0000-0000-0000-000000000001');
    select t.status, (select d.version from {schema}.job_definition d where d.key = p_job_type and d.is_active)
      into standing, current_version from {schema}.tenant t where t.id = door_enqueue.tenant_id;
    if standing is null or not {schema}.in_scope(tenant_id) then
        status := 'unknown_tenant';
    elsif standing = 'suspended' then
        status := 'suspended';
    elsif current_version <> p_version then
        status := 'changed';
    elsif p_project is not null and not exists (
        select from {schema}.project p where p.id = p_project and p.tenant_id = door_enqueue.tenant_id)
    then
        status := 'unknown_project';
    elsif p_tags is not null then
        detail := {schema}.fault_of_tags(p_tags);
        status := case when detail is not null then 'invalid' end;
    end if;
    if status is not null then
        return;
    end if;
    -- Assigned, not selected from: that saves a query and its executor, a tenth of the whole.
    if p_key is null then
        answer := {schema}.enqueue_one(p_job_type, p_payload, tenant_id, p_priority, null, p_scheduled_for, p_project, null, null,
            null, 'manual', null, by_type, by_id, origin, coalesce(p_correlation_id, origin), p_traceparent);
    else
        -- Another open transaction with the same key is waited for, but not for ever.
        perform set_config('lock_timeout', '5s', true);
        answer := {schema}.enqueue_keyed(p_key, p_mode, null, p_job_type, p_payload, tenant_id, p_priority, null, p_scheduled_for,
            p_project, null, null, null, 'manual', null, by_type, by_id, origin, coalesce(p_correlation_id, origin), p_traceparent);
    end if;
    id := answer.id;
    status := answer.status;
    detail := answer.detail;
    if p_tags is not null and status = 'created' then
        perform {schema}.keep_tags(id, tenant_id, p_tags);
    end if;
    if status = 'created' and p_key is null then
        created_at := answer.made_at;
        state := case when p_scheduled_for > created_at then 'scheduled' else 'queued' end;
    elsif status in ('created', 'duplicate') then
        select s.created_at, s.state into created_at, state from {schema}.job_state(array[door_enqueue.id]) s;
    end if;
end
$$;

-- Those of the jobs that are in scope, with where they stand now: what an audit row calls before.
create function {schema}.stands(p_ids uuid[])
returns table (id uuid, tenant_id uuid, state text, priority integer, reason text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select s.id, s.tenant_id, s.state, s.priority, s.reason from {schema}.job_state({schema}.ids_in_scope(p_ids)) s;
end
$$;

-- Each act is done in one statement with the look before it, and answers every id that was asked for: unknown where it
-- is not in scope or not there.
create function {schema}.door_cancel_jobs(p_ids uuid[], p_reason text default null, p_actor_type text default null,
    p_actor_id text default null)
returns table (id uuid, status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    one record;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    for one in
        with before as materialized (select s.* from {schema}.stands(p_ids) s), done as materialized (
            select c.* from {schema}.cancel_jobs((select array_agg(b.id) from before b), {schema}.acting_type(),
                                                 {schema}.acting_id(), p_reason) c)
        select u.id, coalesce(d.status, 'unknown') as status, b.tenant_id, b.state
          from (select distinct unnest(p_ids) as id) u left join done d on d.id = u.id left join before b on b.id = u.id
    loop
        id := one.id;
        status := one.status;
        if status in ('canceled', 'requested') then
            perform {schema}.audit('jobs.cancel', 'job', id::text, one.tenant_id, jsonb_build_object('status', one.state),
                jsonb_build_object('status', case status when 'canceled' then status else one.state end,
                                   'cancel_requested', status = 'requested'), p_reason);
        end if;
        return next;
    end loop;
end
$$;

-- Retry (p_action jobs.retry) and replay (dead.replay) with what they write into the log. p_changes: what an edited payload
-- changed, without its secrets.
create function {schema}.rerun_jobs(p_action text, p_ids uuid[], p_payload jsonb, p_again boolean, p_confirm boolean,
    p_actor_type text, p_actor_id text, p_despite_success boolean default false, p_version integer default null,
    p_changes jsonb default null, p_priority integer default null, p_original boolean default false)
returns table (id uuid, status text, new_id uuid)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    one record;
    known uuid[];
    tenants uuid[];
    states text[];
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    select array_agg(s.id), array_agg(s.tenant_id), array_agg(s.state) into known, tenants, states from {schema}.stands(p_ids) s;
    for one in
        with done as materialized (
            select r.* from {schema}.retry_jobs(case p_action when 'jobs.retry' then known end, {schema}.acting_type(),
                                                {schema}.acting_id(), p_confirm) r
            union all
            select r.* from {schema}.replay_jobs(case p_action when 'dead.replay' then known end, {schema}.acting_type(),
                                                 {schema}.acting_id(), p_payload, p_again, p_confirm,
                                                 p_despite_success, p_version, p_priority, p_original) r)
        select u.id, coalesce(d.status, 'unknown') as status, d.new_id, tenants[array_position(known, u.id)] as tenant,
               states[array_position(known, u.id)] as state
          from (select distinct unnest(p_ids) as id) u left join done d on d.id = u.id
    loop
        id := one.id;
        status := one.status;
        new_id := one.new_id;
        if status in ('due', 'replayed') then
            perform {schema}.audit(p_action, 'job', id::text, one.tenant, jsonb_build_object('status', one.state),
                jsonb_strip_nulls(jsonb_build_object('status', case status when 'due' then 'queued' end, 'replayed_as', new_id,
                                                     'payload_edited', p_payload is not null, 'changes', p_changes,
                                                     'original_version', nullif(p_original, false))));
        end if;
        return next;
    end loop;
end
$$;

-- p_confirm: also those whose definition wants to be asked.
create function {schema}.door_retry_jobs(p_ids uuid[], p_confirm boolean default false, p_actor_type text default null,
    p_actor_id text default null)
returns table (id uuid, status text, new_id uuid)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query select r.* from {schema}.rerun_jobs('jobs.retry', p_ids, null, false, p_confirm, p_actor_type, p_actor_id) r;
end
$$;

-- p_payload: another one for the new jobs; NULL keeps the old. p_again: one that was replayed already is so once more.
-- p_despite_success, p_version, p_original: see replay_jobs.
create function {schema}.door_replay_jobs(p_ids uuid[], p_payload jsonb default null, p_again boolean default false,
    p_confirm boolean default false, p_actor_type text default null, p_actor_id text default null,
    p_despite_success boolean default false, p_version integer default null, p_changes jsonb default null,
    p_original boolean default false)
returns table (id uuid, status text, new_id uuid)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query select r.* from {schema}.rerun_jobs('dead.replay', p_ids, p_payload, p_again, p_confirm, p_actor_type,
                                                          p_actor_id, p_despite_success, p_version, p_changes, p_original => p_original) r;
end
$$;

create function {schema}.door_discard_jobs(p_ids uuid[], p_reason text default null, p_actor_type text default null,
    p_actor_id text default null)
returns table (id uuid, status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    one record;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    for one in
        with before as materialized (select s.* from {schema}.stands(p_ids) s), done as materialized (
            select d.* from {schema}.discard_jobs((select array_agg(b.id) from before b), p_reason) d)
        select u.id, coalesce(d.status, 'unknown') as status, b.tenant_id, b.state, b.reason
          from (select distinct unnest(p_ids) as id) u left join done d on d.id = u.id left join before b on b.id = u.id
    loop
        id := one.id;
        status := one.status;
        if status = 'discarded' then
            perform {schema}.audit('dead.discard', 'job', id::text, one.tenant_id,
                jsonb_build_object('status', one.state, 'reason', one.reason),
                jsonb_build_object('status', 'failed', 'reason', coalesce(p_reason, one.reason)), p_reason);
        end if;
        return next;
    end loop;
end
$$;

-- Another priority for jobs that wait. A ticket is never updated: it is taken out and put in anew, at the end of its new
-- place (ready_at is the moment of putting, or no worker's cursor would meet it). changed | unchanged (it had that
-- priority) | running | finished | contended (just being claimed or moved: try again) | unknown.
create function {schema}.door_prioritize_jobs(p_ids uuid[], p_priority integer, p_reason text default null,
    p_actor_type text default null, p_actor_id text default null)
returns table (id uuid, status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moved uuid[];
    one record;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    for one in
        with before as materialized (select s.* from {schema}.stands(p_ids) s), other as materialized (
            select b.id from before b where b.priority <> p_priority and b.state in ('queued', 'scheduled', 'blocked')
        ), now_ready as materialized (
            select r.ctid as tid from {schema}.ready r where r.id = any (array(select o.id from other o))
             order by r.id for update skip locked
        ), later as materialized (
            select r.ctid as tid from {schema}.scheduled r where r.id = any (array(select o.id from other o))
             order by r.id for update skip locked
        ), waiting as materialized (
            select r.ctid as tid from {schema}.blocked r where r.id = any (array(select o.id from other o))
             order by r.id for update skip locked
        ), from_ready as (
            delete from {schema}.ready r where r.ctid = any (array(select t.tid from now_ready t)) returning r.*
        ), from_scheduled as (
            delete from {schema}.scheduled r where r.ctid = any (array(select t.tid from later t)) returning r.*
        ), from_blocked as (
            delete from {schema}.blocked r where r.ctid = any (array(select t.tid from waiting t)) returning r.*
        ), to_ready as (
            insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
            select r.queue, r.lane, p_priority, {schema}.now(), r.id, r.attempt, r.run, r.lost from from_ready r returning *
        ), to_scheduled as (
            insert into {schema}.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
            select r.queue, r.lane, r.run_at, r.id, p_priority, r.attempt, r.run, r.lost from from_scheduled r returning *
        ), to_blocked as (
            insert into {schema}.blocked (id, queue, lane, priority, attempt, run, lost)
            select r.id, r.queue, r.lane, p_priority, r.attempt, r.run, r.lost from from_blocked r returning *
        ), put as (
            select t.id, t.queue, t.lane from to_ready t union all select t.id, null, null from to_scheduled t
            union all select t.id, null, null from to_blocked t
        )
        select u.id, b.tenant_id, b.state, b.priority, p.queue, p.lane,
               case when b.id is null then 'unknown' when p.id is not null then 'changed' when b.state = 'running' then 'running'
                    when b.state not in ('queued', 'scheduled', 'blocked') then 'finished'
                    when b.priority = p_priority then 'unchanged' else 'contended' end as status
          from (select distinct unnest(p_ids) as id) u left join before b on b.id = u.id left join put p on p.id = u.id
    loop
        id := one.id;
        status := one.status;
        if status = 'changed' then
            perform {schema}.audit('jobs.priority', 'job', id::text, one.tenant_id,
                jsonb_build_object('priority', one.priority), jsonb_build_object('priority', p_priority), p_reason);
        end if;
        if one.queue is not null then
            perform {schema}.ring(one.queue, one.lane, p_priority);
        end if;
        return next;
    end loop;
end
$$;

-- Queues are the platform's. False: there is no such queue, or none that this caller may touch.
create function {schema}.queue_json(p_queue text) returns jsonb
language plpgsql stable as $$
begin
    return (select jsonb_build_object('paused_at', q.paused_at, 'reason', q.pause_reason, 'resume_at', q.resume_at)
              from {schema}.queue q where q.name = p_queue);
end
$$;

create function {schema}.door_pause_queue(p_queue text, p_reason text default null, p_resume_at timestamptz default null,
    p_actor_type text default null, p_actor_id text default null) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    before jsonb := {schema}.queue_json(p_queue);
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    if not {schema}.sees_all() or not {schema}.pause_queue(p_queue, p_reason, p_resume_at, {schema}.acting_id()) then
        return false;
    end if;
    perform {schema}.audit('queues.pause', 'queue', p_queue, null, before, {schema}.queue_json(p_queue), p_reason);
    return true;
end
$$;

create function {schema}.door_resume_queue(p_queue text, p_actor_type text default null, p_actor_id text default null)
returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    before jsonb := {schema}.queue_json(p_queue);
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    if not {schema}.sees_all() or not {schema}.resume_queue(p_queue) then
        return false;
    end if;
    perform {schema}.audit('queues.resume', 'queue', p_queue, null, before, {schema}.queue_json(p_queue));
    return true;
end
$$;

-- Answers to requests with the header Idempotency-Key, per principal: written in the transaction of what the request
-- did, so that there is never one without the other.
create table {schema}.http_answer (
    actor_type text collate "C" not null,
    actor_id text collate "C" not null,
    key text collate "C" not null,
    request_hash bytea not null check (length(request_hash) = 32),
    status integer not null,
    content_type text,
    location text,
    body bytea,
    expires_at timestamptz not null,
    primary key (actor_type, actor_id, key)
);
create index http_answer_expires on {schema}.http_answer (expires_at);

-- new: go on, in this transaction. held: another request with this key is under way. other: the key was used for
-- another request. done: the answer; without a body where it was not to be kept.
create function {schema}.door_recall_answer(p_key text, p_request_hash bytea)
returns table (outcome text, status integer, content_type text, location text, body bytea)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    found_one {schema}.http_answer;
begin
    if not pg_try_advisory_xact_lock(hashtextextended(
            concat_ws(':', '{schema}.answer', {schema}.acting_type(), {schema}.acting_id(), p_key), 0)) then
        outcome := 'held';
        return next;
        return;
    end if;
    select a.* into found_one from {schema}.http_answer a
     where a.actor_type = {schema}.acting_type() and a.actor_id = {schema}.acting_id() and a.key = p_key
       and a.expires_at > (select {schema}.now());
    outcome := case when found_one.key is null then 'new' when found_one.request_hash <> p_request_hash then 'other' else 'done' end;
    status := found_one.status;
    content_type := found_one.content_type;
    location := found_one.location;
    body := found_one.body;
    return next;
end
$$;

create function {schema}.door_keep_answer(p_key text, p_request_hash bytea, p_status integer, p_content_type text, p_location text,
    p_body bytea) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    insert into {schema}.http_answer as a (actor_type, actor_id, key, request_hash, status, content_type, location, body, expires_at)
    values ({schema}.acting_type(), {schema}.acting_id(), p_key, p_request_hash, p_status, p_content_type, p_location, p_body,
            {schema}.now() + interval '24 hours')
    on conflict (actor_type, actor_id, key) do update set request_hash = excluded.request_hash, status = excluded.status,
        content_type = excluded.content_type, location = excluded.location, body = excluded.body, expires_at = excluded.expires_at;
end
$$;

create function {schema}.sweep_answers(p_most integer) returns void
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
begin
    delete from {schema}.http_answer a where a.ctid = any (array(
        select o.ctid from {schema}.http_answer o where o.expires_at < moment limit p_most for update skip locked));
end
$$;
