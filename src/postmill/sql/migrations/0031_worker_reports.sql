-- postmill: safe
-- What HTTP workers tell of the jobs that they hold: that they are at it, and what came of it. And what is read of all workers.

-- The job under this fence, locked until the end of the transaction: held (with its facts, and the cancel request) |
-- ended (with verb and answer of the report that ended it) | over (its lease ended, or somebody else's fence) | unknown.
create function {schema}.door_held_work(p_id uuid, p_holder uuid, p_claim_no bigint,
    out status text, out verb text, out answer jsonb, out job jsonb, out cancel_requested boolean, out cancel_reason text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    r {schema}.running;
    c {schema}.http_claim;
begin
    select t.* into r from {schema}.running t where t.id = p_id and t.holder = p_holder and t.claim_no = p_claim_no for update;
    select h.* into c from {schema}.http_claim h
     where h.job_id = p_id and h.claim_no = p_claim_no and h.holder = p_holder and {schema}.in_scope(h.tenant_id) for update;
    if c.job_id is null then
        status := case when {schema}.ids_in_scope(array[p_id]) = '{}' or not exists (
                            select from {schema}.any_job j where j.id = p_id) then 'unknown' else 'over' end;
    elsif c.ended_at is not null then
        status := 'ended'; verb := c.verb; answer := c.answer;
    elsif r.id is null then
        status := 'over';
    else
        status := 'held';
        select q.reason into cancel_reason from {schema}.cancel_request q where q.job_id = p_id;
        cancel_requested := found;
        job := jsonb_build_object('id', r.id, 'queue', r.queue, 'ready_at', c.ready_at, 'attempt', r.attempt, 'run', r.run,
                'lost', r.lost, 'claim_no', r.claim_no, 'claimed_at', r.claimed_at, 'lease_expires_at', c.expires_at,
                'tenant_id', c.tenant_id,
                'worker_id', (select w.worker_id from {schema}.worker w where w.holder = r.holder),
                'seconds', extract(epoch from {schema}.now() - r.claimed_at)) || {schema}.work_facts(p_id);
    end if;
end
$$;

-- Renews the lease of a held job, and its session's: renewed | overdue (past its deadline: not renewed) | over (a lease
-- that ended cannot be renewed).
create function {schema}.door_beat_work(p_id uuid, p_holder uuid, p_claim_no bigint, p_done double precision,
    p_total double precision, p_message text, out status text, out lease_expires_at timestamptz, out deadline timestamptz,
    out cancel_requested boolean, out cancel_reason text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
begin
    select 'overdue' into status from {schema}.http_claim c
     where c.job_id = p_id and c.claim_no = p_claim_no and c.holder = p_holder and c.ended_at is null and c.expires_at > moment
       and c.deadline <= moment and {schema}.in_scope(c.tenant_id);
    if found then
        return;
    end if;
    status := 'over';
    update {schema}.http_claim c set expires_at = moment + c.lease_seconds * interval '1 second'
     where c.job_id = p_id and c.claim_no = p_claim_no and c.holder = p_holder and c.ended_at is null and c.expires_at > moment
       and {schema}.in_scope(c.tenant_id)
    returning c.expires_at, c.deadline into lease_expires_at, deadline;
    if not found then
        return;
    end if;
    update {schema}.lease l set expires_at = greatest(l.expires_at, lease_expires_at)
     where l.holder = p_holder and l.expires_at > moment;
    if not found then
        return;
    end if;
    status := 'renewed';
    update {schema}.worker w set last_seen_at = moment where w.holder = p_holder;
    select q.reason into cancel_reason from {schema}.cancel_request q where q.job_id = p_id;
    cancel_requested := found;
    if p_done is not null then
        insert into {schema}.progress as p (job_id, holder, claim_no, done, total, message, at)
        values (p_id, p_holder, p_claim_no, p_done, p_total, p_message, moment)
        on conflict (job_id) do update set holder = excluded.holder, claim_no = excluded.claim_no, done = excluded.done,
            total = excluded.total, message = excluded.message, at = excluded.at;
    end if;
end
$$;

-- Ends a held job by the report of this verb, and keeps the answer: p_answer and the moments that are known only here.
-- NULL: it is over.
create function {schema}.door_report_work(p_id uuid, p_holder uuid, p_claim_no bigint, p_verb text, p_report text, p_fields jsonb,
    p_result jsonb, p_answer jsonb) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    f constant jsonb := p_fields;
    moment timestamptz := {schema}.now();
    held record;
    body record;
    whose uuid;
    micros bigint;
    attempt_status constant text := p_fields ->> 'attempt_status';
    started constant boolean := attempt_status is not null or p_report like 'complete%';
    missed uuid;
    told jsonb;
begin
    select c.tenant_id, r.queue, r.claimed_at, r.run, c.ready_at, (extract(epoch from moment - r.claimed_at) * 1e6)::bigint as micros into held
      from {schema}.http_claim c join {schema}.running r on r.id = c.job_id and r.claim_no = c.claim_no and r.holder = c.holder
     where c.job_id = p_id and c.claim_no = p_claim_no and c.holder = p_holder and c.ended_at is null
       and {schema}.in_scope(c.tenant_id);
    if not found then
        return null;
    end if;
    whose := held.tenant_id;
    micros := held.micros;
    select j.job_type, coalesce(j.scheduled_for, j.created_at) as due, j.workflow_id into body from {schema}.any_job j where j.id = p_id;
    -- What others wait for is kept, whatever the definition says.
    case (case when body.workflow_id is not null then replace(p_report, '_forgotten', '') else p_report end)
    when 'complete' then
        missed := {schema}.complete(p_holder, array[p_id], array[p_claim_no], array[whose], array[micros], array[p_result],
            p_workflows => array[body.workflow_id]);
    when 'complete_forgotten' then
        missed := {schema}.complete_forgotten(p_holder, array[p_id], array[p_claim_no], f ->> 'job_type');
    when 'put_back' then
        missed := {schema}.put_back(p_holder, array[p_id], array[p_claim_no], array[whose], array[micros],
            array[f ->> 'attempt_status'], array[(f ->> 'delay')::double precision], array[0], array[f ->> 'error_class'],
            array[f ->> 'error_code'], array[f ->> 'error_message'], array[(f ->> 'error_status')::integer], array[f ->> 'stack'],
            array[null::integer], array[null::integer], array[null::text], array[null::text], array[f ->> 'error_group']);
    when 'finish' then
        missed := {schema}.finish(p_holder, array[p_id], array[p_claim_no], array[whose], array[micros], array[f ->> 'status'],
            array[f ->> 'attempt_status'], array[f ->> 'reason'], array[f ->> 'error_class'], array[f ->> 'error_code'],
            array[f ->> 'error_message'], array[(f ->> 'error_status')::integer], array[f ->> 'stack'],
            array[null::integer], array[null::integer], array[null::text], array[null::text], array[f ->> 'error_group']);
    when 'bury' then
        missed := {schema}.bury(p_holder, array[p_id], array[p_claim_no], array[whose], array[micros],
            array[f ->> 'attempt_status'], array[f ->> 'reason'], array[f ->> 'error_class'], array[f ->> 'error_code'],
            array[f ->> 'error_message'], array[(f ->> 'error_status')::integer], array[f ->> 'stack'],
            array[null::integer], array[null::integer], array[null::text], array[null::text], array[f ->> 'error_group']);
    end case;
    if missed is not null then
        return null;
    end if;
    if body.workflow_id is not null then
        perform {schema}.tell('!workflows');
    end if;
    if p_report <> 'put_back' or attempt_status is not null then
        perform {schema}.count_end(whose, held.queue, coalesce(body.job_type, 'unknown'), case p_report
                when 'finish' then f ->> 'status' when 'bury' then 'dead_letter'
                when 'put_back' then case when attempt_status in ('failed', 'timeout') then 'retried' else attempt_status end
                else 'succeeded' end,
            case when started then extract(epoch from held.claimed_at - case held.run when 1 then coalesce(body.due, held.ready_at) else held.ready_at end) end,
            case when started then micros / 1e6 end, extract(epoch from moment - body.due));
    end if;
    if f ->> 'error_group' is not null then
        insert into {schema}.error_group_part (id, tenant_id, job_type, error_class, message, frame, error_code, error_status,
               first_at, last_at, n, job_id)
        values (f ->> 'error_group', whose, coalesce(body.job_type, 'unknown'), f ->> 'error_class', f ->> 'group_message', '', f ->> 'error_code',
               (f ->> 'error_status')::integer, moment, moment, 1, p_id);
    end if;
    told := p_answer || jsonb_build_object('finished_at', moment) || case when p_report = 'put_back'
            then jsonb_build_object('retry_at', moment + (f ->> 'delay')::double precision * interval '1 second') else '{}' end;
    update {schema}.http_claim c set ended_at = moment, verb = p_verb, answer = told
     where c.job_id = p_id and c.claim_no = p_claim_no;
    delete from {schema}.progress p where p.job_id = p_id;
    perform {schema}.http_running(p_holder);
    return told;
end
$$;

-- One sign of life: what a worker says of itself. p_clock: its own clock, in seconds of the epoch. Answers what is asked of it.
create function {schema}.worker_report(p_holder uuid, p_clock double precision, p_full boolean, p_draining boolean,
    p_report jsonb) returns text
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
    wanted text;
begin
    update {schema}.worker w
       set skew_seconds = p_clock - extract(epoch from moment), report = p_report,
           -- Of queues whose slots follow their work.
           slots = w.slots || coalesce(p_report -> 'slots', '{}'),
           full_since = case when p_full then coalesce(w.full_since, moment) end,
           draining_since = case when p_draining then coalesce(w.draining_since, moment) end
     where w.holder = p_holder
    returning w.asked into wanted;
    return wanted;
end
$$;

-- What is asked of a worker: asked | unchanged | unknown | over (its session has ended) | http (its program is not ours).
-- Who is to claim nothing more is rung no more.
create function {schema}.door_ask_worker(p_holder uuid, p_asked text, p_reason text default null, p_actor_type text default null,
    p_actor_id text default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    w {schema}.worker;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    select * into w from {schema}.worker k where k.holder = p_holder for update;
    if not found or not {schema}.sees_all() then
        return 'unknown';
    elsif w.metadata ->> 'kind' = 'http' then
        return 'http';
    elsif w.stopped_at is not null or not exists (
        select from {schema}.lease l where l.holder = p_holder and l.expires_at > (select {schema}.now())) then
        return 'over';
    elsif w.asked = p_asked or (w.asked is null and p_asked = 'resume' and not w.draining) then
        return 'unchanged';
    end if;
    update {schema}.worker k
       set asked = p_asked, asked_at = {schema}.now(), asked_by = {schema}.acting_id(), asked_reason = left(p_reason, 2000)
     where k.holder = p_holder;
    if p_asked <> 'resume' then
        perform {schema}.leave(p_holder);
    end if;
    perform {schema}.audit('workers.' || p_asked, 'worker', w.worker_id, null, jsonb_build_object('asked', w.asked),
        jsonb_build_object('asked', p_asked, 'running', w.running_count), p_reason);
    perform {schema}.tell('!worker');
    return 'asked';
end
$$;

-- Takes back what a session held whose lease has ended, without waiting for the round that would: a first row without an id
-- tells what became of it (rescued | alive | unknown), then one for each job.
create function {schema}.door_rescue_worker(p_holder uuid, p_reason text default null, p_actor_type text default null,
    p_actor_id text default null)
returns table (id uuid, queue text, verdict text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    name text;
    found_jobs jsonb;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    select w.worker_id into name from {schema}.worker w where w.holder = p_holder;
    if name is null or not {schema}.sees_all() then
        return query select null::uuid, null::text, 'unknown';
        return;
    elsif exists (select from {schema}.lease l where l.holder = p_holder and l.expires_at > (select {schema}.now())) then
        return query select null::uuid, null::text, 'alive';
        return;
    end if;
    select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'queue', t.queue, 'verdict', t.verdict)), '[]')
      into found_jobs from {schema}.take_back(p_holder, 0, 1000) t;
    perform {schema}.audit('workers.rescue', 'worker', name, null, null,
        jsonb_build_object('jobs', jsonb_array_length(found_jobs), 'first',
                           (select jsonb_agg(e.one) from (select j.one from jsonb_array_elements(found_jobs) j(one) limit 20) e)),
        p_reason);
    return query select null::uuid, null::text, 'rescued';
    return query select (j.one ->> 'id')::uuid, j.one ->> 'queue', j.one ->> 'verdict' from jsonb_array_elements(found_jobs) j(one);
end
$$;

-- Of each session that holds something: how much, and since when the oldest. Of at most 10,000 tickets.
create function {schema}.read_worker_loads() returns table (holder uuid, n bigint, oldest_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select r.holder, count(*), min(r.claimed_at) from (select x.holder, x.claimed_at from {schema}.running x limit 10000) r
     group by r.holder;
end
$$;

-- What a session holds now, the oldest first.
create function {schema}.read_worker_jobs(p_holder uuid, p_most integer)
returns table (id uuid, tenant_id uuid, job_type text, queue text, attempt integer, max_attempts integer, claimed_at timestamptz,
    timeout_seconds double precision, replay_class text, lost integer, progress_done double precision,
    progress_total double precision, progress_message text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select r.id, j.tenant_id, j.job_type, r.queue, r.attempt, j.max_attempts, r.claimed_at,
           coalesce(j.timeout_seconds, d.timeout_seconds), d.replay_class, r.lost, g.done, g.total, g.message
      from (select x.* from (select o.* from {schema}.running o limit 10000) x
             where x.holder = p_holder order by x.claimed_at, x.id limit p_most) r
      left join lateral (select f.tenant_id, f.job_type, f.max_attempts, f.timeout_seconds from {schema}.any_job f
                          where f.id = r.id offset 0) j on true
      left join {schema}.job_definition d on d.key = j.job_type
      left join lateral (select t.done, t.total, t.message from {schema}.progress t where t.job_id = r.id offset 0) g on true
     order by r.claimed_at, r.id;
end
$$;

-- What a session ended lately, the latest first: of the p_within jobs that were made last among those that have ended.
create function {schema}.read_worker_ended(p_holder uuid, p_within integer, p_most integer)
returns table (id uuid, tenant_id uuid, job_type text, status text, started_at timestamptz, finished_at timestamptz,
    attempt integer, error_class text, error_message text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
set enable_seqscan = off as $$
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select e.job_id, e.tenant_id, j.job_type, e.status, e.started_at, e.finished_at, e.attempt, e.error_class,
           left(e.error_message, 200)
      from (select x.* from (
                select o.job_id, o.tenant_id, o.status, o.started_at, o.finished_at, o.attempt, o.error_class, o.error_message, o.holder
                  from {schema}.outcome o order by o.job_id desc limit p_within) x
             where x.holder = p_holder order by x.finished_at desc limit p_most) e
      left join lateral (select f.job_type from {schema}.any_job f where f.id = e.job_id offset 0) j on true
     order by e.finished_at desc;
end
$$;

-- Worker sessions are the platform's: seen since p_seen seconds ago (NULL: all), those that started last first, below
-- (p_before, p_holder); p_only: this one.
create function {schema}.read_workers(p_seen double precision default null, p_before timestamptz default 'infinity',
    p_holder uuid default 'ffffffff-ffff-ffff-ffff-ffffffffffff', p_most integer default 1000, p_only uuid default null)
returns table (
    holder uuid, worker_id text, hostname text, pid integer, version text, queues text[], slots jsonb, job_types text[], state text,
    running_count integer, started_at timestamptz, last_seen_at timestamptz, stopped_at timestamptz, lease_expires_at timestamptz,
    metadata jsonb, asked text, asked_at timestamptz, asked_by text, asked_reason text, draining_since timestamptz,
    full_since timestamptz, skew_seconds double precision, report jsonb, build text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select w.holder, w.worker_id, w.hostname, w.pid, w.version, w.queues, w.slots, w.job_types,
           case when w.stopped_at is not null then 'stopped' when l.expires_at is null or l.expires_at <= moment then 'lost'
                when w.draining then 'draining' else 'running' end,
           w.running_count, w.started_at, w.last_seen_at, w.stopped_at, l.expires_at, w.metadata, w.asked, w.asked_at,
           w.asked_by, w.asked_reason, w.draining_since, w.full_since, w.skew_seconds, w.report, w.build
      from {schema}.worker w
      left join {schema}.lease l on l.holder = w.holder
     where (p_seen is null or w.last_seen_at >= moment - p_seen * interval '1 second')
       and (w.started_at, w.holder) < (p_before, p_holder) and (p_only is null or w.holder = p_only)
     order by w.started_at desc, w.holder desc limit p_most;
end
$$;

-- When another build of an application began to run since a moment, the latest first: its first session that started while
-- none of the same build had lived for a minute. p_job_type: only of workers that serve it.
create function {schema}.read_builds(p_since timestamptz, p_job_type text default null, p_most integer default 50)
returns table (at timestamptz, build text, holder uuid, again boolean)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select w.started_at, w.build, w.holder,
           exists (select from {schema}.worker o where o.build = w.build and o.started_at < w.started_at and o.job_types && w.job_types)
      from {schema}.worker w
     where w.last_seen_at >= p_since and w.started_at >= p_since and w.build is not null
       and (p_job_type is null or p_job_type = any (w.job_types))
       and not exists (select from {schema}.worker o
                        where o.build = w.build and o.last_seen_at >= w.started_at - interval '1 minute'
                          and (o.started_at, o.holder) < (w.started_at, w.holder)
                          and case when p_job_type is null then o.job_types && w.job_types else p_job_type = any (o.job_types) end)
     order by w.started_at desc limit p_most;
end
$$;
