-- postmill: safe
-- What a person or a program may do to a job or queue. On the caller's transaction, never raising for a refusal.

-- canceled: it waited and is over. requested: it runs (or is just being claimed); the worker will hear of it.
-- finished: it had ended before. unknown: there is no such job. serialization: above READ COMMITTED the caller's
-- snapshot is older than what others did; nothing was done, and only the inner block is undone, not the caller's work.
create function {schema}.cancel_jobs(p_ids uuid[], p_actor_type text default 'user', p_actor_id text default null,
    p_reason text default null)
returns table (id uuid, status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.history_moment();
    over uuid[];
    asked uuid[];
begin
    begin
        with waits as materialized (
            select * from (select r.id, r.queue, r.attempt, r.run, r.lost from {schema}.ready r where r.id = any (p_ids)
                            order by r.id for update skip locked) r
            union all
            select * from (select s.id, s.queue, s.attempt, s.run, s.lost from {schema}.scheduled s where s.id = any (p_ids)
                            order by s.id for update skip locked) s
            union all
            select * from (select b.id, b.queue, b.attempt, b.run, b.lost from {schema}.blocked b where b.id = any (p_ids)
                            order by b.id for update skip locked) b
        ), whose as materialized (
            select w.*, coalesce(j.tenant_id, k.tenant_id, '00000000-0000-0000-0000-000000000001') as tenant_id,
                   coalesce(j.job_type, k.job_type, 'unknown') as job_type
              from waits w left join {schema}.job j on j.id = w.id left join {schema}.job_kept k on k.id = w.id
        ), no_ready as (
            delete from {schema}.ready r where r.id = any (array(select w.id from waits w))
        ), no_scheduled as (
            delete from {schema}.scheduled s where s.id = any (array(select w.id from waits w))
        ), no_blocked as (
            delete from {schema}.blocked b where b.id = any (array(select w.id from waits w))
        ), heard as (
            delete from {schema}.cancel_request c using waits w where c.job_id = w.id
        ), ended as (
            insert into {schema}.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, reason)
            select w.id, w.tenant_id, 'canceled', moment, w.attempt - 1, w.run, w.lost, coalesce(p_reason, 'canceled')
              from whose w
            returning job_id
        ), counted as (
            insert into {schema}.rollup_part (minute, tenant_id, queue, job_type, outcome, n)
            select {schema}.minute_of(moment), w.tenant_id, w.queue, w.job_type, 'canceled', count(*) from whose w
             group by w.tenant_id, w.queue, w.job_type
        )
        select array_agg(e.job_id) into over from ended e;
        insert into {schema}.workflow_inbox (workflow_id, job_id, state)
        select s.workflow_id, s.job_id, 'canceled' from {schema}.workflow_step s where s.job_id = any (over);
        perform {schema}.tell('!workflows') where found;

        with rest as (
            select distinct u.id from unnest(p_ids) as u(id)
             where u.id <> all (coalesce(over, '{}'))
               and (exists (select from {schema}.job j where j.id = u.id) or exists (select from {schema}.job_kept k where k.id = u.id))
               and not exists (select from {schema}.outcome o where o.job_id = u.id)
               and not exists (select from {schema}.dead_letter d where d.id = u.id)
        ), put as (
            insert into {schema}.cancel_request as c (job_id, requested_at, actor_type, actor_id, reason)
            select r.id, moment, p_actor_type, p_actor_id, p_reason from rest r order by r.id
            on conflict (job_id) do nothing
        )
        select array_agg(r.id) into asked from rest r;
        if asked is not null then
            perform {schema}.tell('!cancel');
        end if;
    exception
        when serialization_failure or deadlock_detected then
            return query select u.id, 'serialization' from unnest(p_ids) as u(id);
            return;
    end;
    return query
    select u.id, case when u.id = any (over) then 'canceled'
                      when u.id = any (asked) then 'requested'
                      when exists (select from {schema}.outcome o where o.job_id = u.id)
                        or exists (select from {schema}.dead_letter d where d.id = u.id) then 'finished'
                      else 'unknown' end
      from unnest(p_ids) as u(id);
end
$$;

-- Runs an ended job again as a new one with lineage; an open dead letter leaves the list. replayed: new_id is the
-- new job. live: a replay of it still waits or runs (new_id). already_replayed: one has ended (new_id, the latest; NULL
-- if it succeeded and left no trace), and p_again did not ask for another. key_held: its key belongs to a live job (new_id).
-- waiting | running | succeeded | unknown: there is nothing to replay. never: its definition forbids it.
-- unconfirmed: its definition says ask, and p_confirm did not say that somebody was asked. succeeded_since: a later job
-- with its key, or with its type and payload, has succeeded (new_id), and p_despite_success did not say that it shall run
-- all the same. old_version: its definition is not at version p_version yet. version_gone: p_original wants it to run under the
-- version that it was made under (0067), and nobody can run that any more. rolled_back: the workflow that it is a step of
-- was taken back. p_priority: of the new jobs, NULL that of the old.
create function {schema}.replay_jobs(p_ids uuid[], p_actor_type text default 'user', p_actor_id text default null,
    p_payload jsonb default null, p_again boolean default false, p_confirm boolean default false,
    p_despite_success boolean default false, p_version integer default null, p_priority integer default null,
    p_original boolean default false)
returns table (id uuid, status text, new_id uuid)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    body {schema}.job;
    letter {schema}.dead_letter;
    ended text;
    lives boolean;
    answer record;
    flows uuid[] := {schema}.lock_workflows_of(p_ids);
    steps uuid[] := '{}'; -- the old job and the new one, by turns
    original integer;
    code text;
begin
    for id in select distinct u.id from unnest(p_ids) as u(id) order by 1 loop
        status := null;
        new_id := null;
        perform pg_advisory_xact_lock(hashtextextended('{schema}.replay:' || id::text, 0));
        select j.* into body from {schema}.job j where j.id = replay_jobs.id;
        if not found then
            select k.* into body from {schema}.job_kept k where k.id = replay_jobs.id;
        end if;
        if body.id is null then
            status := 'unknown';
            return next;
            continue;
        end if;
        select d.* into letter from {schema}.dead_letter d where d.id = replay_jobs.id for update;
        select o.status into ended from {schema}.outcome o where o.job_id = replay_jobs.id;
        if exists (select from {schema}.job_definition d where d.key = body.job_type and d.replay_class = 'never') then
            status := 'never';
        elsif body.workflow_id = any (flows) and {schema}.step_taken_back(body.id) then
            status := 'rolled_back';
        elsif letter.id is null and ended is null then
            status := case when exists (select from {schema}.running r where r.id = replay_jobs.id) then 'running' else 'waiting' end;
        elsif ended = 'succeeded' then
            status := 'succeeded';
        else
            -- Fenced (offset 0): a plan for the first row alone would read the whole table.
            select j.id, {schema}.is_live(j.id) into new_id, lives
              from (select f.id from {schema}.job f where f.replayed_from = replay_jobs.id
                    union all select k.id from {schema}.job_kept k where k.replayed_from = replay_jobs.id offset 0) j
             order by 2 desc, j.id desc limit 1;
            -- Nothing but a replay makes an outcome of a dead letter without making it another one.
            status := case when lives then 'live'
                           when p_again is not true and (found or ended = 'dead_letter') then 'already_replayed' end;
        end if;
        if status is null and p_confirm is not true
            and exists (select from {schema}.job_definition d where d.key = body.job_type and d.replay_class = 'ask') then
            status := 'unconfirmed';
        end if;
        if status is null and exists (
            select from {schema}.job_definition d where d.key = body.job_type and d.version < p_version) then
            status := 'old_version';
        end if;
        if status is null and p_original then
            original := {schema}.original_version(body.id);
            code := {schema}.version_code(body.job_type, original);
            status := case when code is null then 'version_gone' end;
        end if;
        if status is null and p_despite_success is not true then
            new_id := {schema}.later_success(body, coalesce(p_payload, body.payload));
            status := case when new_id is not null then 'succeeded_since' end;
        end if;
        if status is null then
            if body.idempotency_key is null or body.workflow_id is not null then
                answer := {schema}.enqueue_one(body.job_type, coalesce(p_payload, body.payload), body.tenant_id,
                    coalesce(p_priority, body.priority), null, null, body.project_id, body.max_attempts, body.timeout_seconds, null,
                    body.source, body.source_ref, p_actor_type, p_actor_id, body.request_id, body.correlation_id,
                    body.traceparent, body.idempotency_key, body.id,
                    -- What is no step any more, or whose workflow is gone, runs by itself.
                    p_workflow => case when body.workflow_id = any (flows) then body.workflow_id end);
            else
                -- The dead job's window would refuse its own replay: its key is re-pointed, with its mode and its
                -- expiry. A key that is somebody else's by now is asked for like any other.
                update {schema}.idempotency_key k set last_seen_at = {schema}.now()
                 where k.tenant_id = body.tenant_id and k.key = body.idempotency_key and k.job_id = body.id
                   and k.project_id = coalesce(body.project_id, '00000000-0000-0000-0000-000000000000');
                if found then
                    answer := {schema}.enqueue_one(body.job_type, coalesce(p_payload, body.payload), body.tenant_id,
                        coalesce(p_priority, body.priority), null, null, body.project_id, body.max_attempts, body.timeout_seconds, null,
                        body.source, body.source_ref, p_actor_type, p_actor_id, body.request_id, body.correlation_id,
                        body.traceparent, body.idempotency_key, body.id);
                    update {schema}.idempotency_key k
                       set job_id = answer.id,
                           content = (select {schema}.content_of(d.idempotency_content, coalesce(p_payload, body.payload))
                                        from {schema}.job_definition d where d.key = body.job_type)
                     where k.tenant_id = body.tenant_id and k.key = body.idempotency_key and answer.status = 'created'
                       and k.project_id = coalesce(body.project_id, '00000000-0000-0000-0000-000000000000');
                else
                    answer := {schema}.enqueue_keyed(body.idempotency_key, null, null, body.job_type,
                        coalesce(p_payload, body.payload), body.tenant_id, coalesce(p_priority, body.priority), null, null, body.project_id,
                        body.max_attempts, body.timeout_seconds, null, body.source, body.source_ref, p_actor_type,
                        p_actor_id, body.request_id, body.correlation_id, body.traceparent, body.id);
                end if;
            end if;
            new_id := answer.id;
            status := case answer.status when 'created' then 'replayed' when 'duplicate' then 'key_held' else answer.status end;
            if status = 'replayed' and exists (select from {schema}.job_tag t where t.job_id = body.id) then
                perform {schema}.keep_tags(new_id, body.tenant_id, to_jsonb({schema}.tags_of(body.id)));
            end if;
            if status = 'replayed' and p_original and code <> '' then
                perform {schema}.pin_job(new_id, body.tenant_id, body.job_type, original, code);
            end if;
            if status = 'replayed' and letter.id is not null then
                perform {schema}.close_letter(id, 'dead_letter', letter.reason);
            end if;
            if status = 'replayed' and body.workflow_id = any (flows) then
                steps := steps || array[body.id, new_id];
            end if;
        end if;
        return next;
    end loop;
    perform {schema}.restart_steps(f.id, steps) from unnest(flows) as f(id) where steps <> '{}';
end
$$;

-- An open dead letter becomes an outcome. Its attempts are in history already, so the outcome carries none.
create function {schema}.close_letter(p_id uuid, p_status text, p_reason text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.history_moment();
begin
    with gone as (
        delete from {schema}.dead_letter d where d.id = p_id returning d.*
    ), counted as (
        insert into {schema}.rollup_part (minute, tenant_id, queue, job_type, outcome, n)
        select {schema}.minute_of(moment), g.tenant_id, g.queue, coalesce(b.job_type, 'unknown'),
               case p_status when 'failed' then 'discarded' else 'replayed' end, 1
          from gone g
          left join lateral (select j.job_type from {schema}.any_job j where j.id = g.id offset 0) b on true
    )
    insert into {schema}.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, reason, error_class,
           error_code, error_message, error_status, error_group, stack)
    select g.id, g.tenant_id, p_status, moment, g.attempt, g.run, g.lost, coalesce(p_reason, g.reason), g.error_class,
           g.error_code, g.error_message, g.error_status, g.error_group, g.stack
      from gone g;
    return found;
end
$$;

-- A job that waits for its next attempt is due now; a failed, canceled or dead one is replayed.
create function {schema}.retry_jobs(p_ids uuid[], p_actor_type text default 'user', p_actor_id text default null,
    p_confirm boolean default false)
returns table (id uuid, status text, new_id uuid)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moved uuid[];
    rung record;
begin
    with due as materialized (
        select s.* from {schema}.scheduled s where s.id = any (p_ids) order by s.id for update skip locked
    ), gone as (
        delete from {schema}.scheduled s where s.id = any (array(select d.id from due d))
    ), put as (
        insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
        select d.queue, d.lane, d.priority, {schema}.now(), d.id, d.attempt, d.run, d.lost from due d
    )
    select array_agg(d.id) into moved from due d;
    for rung in select distinct r.queue, r.lane, r.priority from {schema}.ready r where r.id = any (moved) limit 16 loop
        perform {schema}.ring(rung.queue, rung.lane, rung.priority);
    end loop;
    return query select u.id, 'due', null::uuid from unnest(moved) as u(id);
    return query
    select r.* from {schema}.replay_jobs(
        array(select u.id from unnest(p_ids) as u(id) where u.id <> all (coalesce(moved, '{}'))),
        p_actor_type, p_actor_id, p_confirm => p_confirm, p_despite_success => true) r;
end
$$;

-- Survives restarts of everything. p_resume_at: when it opens by itself (infinity: not at all; clients could not read
-- it). False: there is no such queue.
create function {schema}.pause_queue(p_queue text, p_reason text default null, p_resume_at timestamptz default null,
    p_actor text default null) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    update {schema}.queue q
       set paused_at = coalesce(q.paused_at, {schema}.now()), pause_reason = p_reason, paused_by = p_actor,
           resume_at = case when isfinite(p_resume_at) then p_resume_at end
     where q.name = p_queue;
    if not found then
        return false;
    end if;
    perform {schema}.tell('!pause');
    return true;
end
$$;

create function {schema}.resume_queue(p_queue text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    update {schema}.queue q set paused_at = null, pause_reason = null, resume_at = null, paused_by = null where q.name = p_queue;
    if not found then
        return false;
    end if;
    perform {schema}.ring(p_queue);
    perform {schema}.tell('!resume');
    return true;
end
$$;

-- Pauses of job types, the past ones too. The claim does not ask: a worker that meets a ticket of a paused type puts it
-- into scheduled, due at held_until, a moment that no other ticket is due at but by chance. What ends by itself is then
-- due; what is ended by hand is fetched from there by that moment (release_held). ended_at: by hand. released_at: all
-- that was held is back.
create table {schema}.type_pause (
    id uuid primary key default {schema}.new_id(),
    job_type text collate "C" not null,
    paused_at timestamptz not null,
    paused_by text,
    reason text,
    resume_at timestamptz,
    held_until timestamptz not null,
    ended_at timestamptz,
    ended_by text,
    released_at timestamptz
);
create unique index type_pause_open on {schema}.type_pause (job_type) where ended_at is null;
create index type_pause_unreleased on {schema}.type_pause (id) where ended_at is not null and released_at is null;
create index type_pause_type on {schema}.type_pause (job_type, paused_at);

-- The pause that holds a type back now, by its key; an alias is asked for by the key of its definition.
create function {schema}.type_paused(p_job_type text) returns {schema}.type_pause
language plpgsql stable as $$
declare
    found_one {schema}.type_pause;
begin
    select p.* into found_one from {schema}.type_pause p
     where p.job_type = p_job_type and p.ended_at is null
       and (p.resume_at is null or p.resume_at > (select {schema}.now()));
    return found_one;
end
$$;

-- Every name by which jobs of paused types are known: keys and aliases.
create function {schema}.paused_types() returns text[]
language plpgsql stable as $$
begin
    return coalesce((select array_agg(n.name) from {schema}.type_pause p
                       left join {schema}.job_definition d on d.key = p.job_type
                      cross join unnest(p.job_type || coalesce(d.aliases, '{}')) as n(name)
                      where p.ended_at is null and (p.resume_at is null or p.resume_at > (select {schema}.now()))), '{}');
end
$$;

-- When a ticket that was put back for its type's pause is due. The pause cannot be ended in between; where it was, at once.
create function {schema}.held_until(p_id uuid, p_moment timestamptz) returns timestamptz
language plpgsql volatile as $$
declare
    own text;
    until timestamptz;
begin
    select j.job_type into own from {schema}.any_job j where j.id = p_id;
    select p.held_until into until from {schema}.type_pause p
     where p.ended_at is null and (p.resume_at is null or p.resume_at > p_moment)
       and p.job_type in (own, (select d.key from {schema}.job_definition d where d.aliases @> array[own] limit 1))
     for share;
    return coalesce(until, p_moment);
end
$$;

-- Brings back what an ended pause held, at most p_most tickets of each: how many.
create function {schema}.release_held(p_most integer) returns integer
language plpgsql volatile as $$
declare
    one {schema}.type_pause;
    rung record;
    moved integer := 0;
begin
    for one in select p.* from {schema}.type_pause p where p.ended_at is not null and p.released_at is null
                order by p.id for update skip locked loop
        for rung in
            with gone as (
                delete from {schema}.scheduled s where s.ctid = any (array(
                    select h.ctid from {schema}.scheduled h where h.run_at = one.held_until limit p_most for update skip locked))
                returning s.*
            ), put as (
                insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
                select g.queue, g.lane, g.priority, {schema}.now(), g.id, g.attempt, g.run, g.lost from gone g order by g.id
            )
            select g.queue, count(*) as n from gone g group by 1 order by 1
        loop
            perform {schema}.ring(rung.queue);
            moved := moved + rung.n;
        end loop;
        if not exists (select from {schema}.scheduled h where h.run_at = one.held_until) then
            update {schema}.type_pause p set released_at = {schema}.now() where p.id = one.id;
        end if;
    end loop;
    return moved;
end
$$;

-- One that ended by itself ended then.
create function {schema}.end_pause(p_job_type text, p_moment timestamptz) returns void
language plpgsql volatile as $$
begin
    update {schema}.type_pause p
       set ended_at = least(p.resume_at, p_moment), ended_by = case when p.resume_at <= p_moment then null else {schema}.acting_id() end
     where p.job_type = p_job_type and p.ended_at is null;
end
$$;
