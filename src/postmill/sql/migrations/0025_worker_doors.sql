-- postmill: safe
-- The doors of workers in other languages, which work over HTTP: claim, heartbeat, complete, fail.

-- The session of an HTTP worker, found by the name that the worker gives itself. It has a lease and a row in worker like
-- any other; a worker that comes back under its name before that lease is over goes on with it. tenant_id: whose jobs it
-- may have; NULL is everybody's.
create table {schema}.http_session (
    holder uuid primary key,
    tenant_id uuid,
    worker_id text collate "C" not null
);
create unique index http_session_worker
    on {schema}.http_session (coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'), worker_id);

-- One job in the hands of an HTTP worker, with a lease of its own: a session's would keep alive jobs of which its worker
-- knows nothing (an answer that never arrived, a process that was killed and came back under its name). Locked after the
-- ticket in running, never before. answer is what the report was answered; kept for an hour, so that a report that is
-- sent again is answered again.
create table {schema}.http_claim (
    job_id uuid not null,
    claim_no bigint not null,
    holder uuid not null,
    tenant_id uuid not null,
    job_type text collate "C" not null,
    ready_at timestamptz not null,
    lease_seconds double precision not null,
    expires_at timestamptz not null,
    deadline timestamptz,
    ended_at timestamptz,
    verb text collate "C",
    answer jsonb,
    primary key (job_id, claim_no)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index http_claim_expires on {schema}.http_claim (expires_at) where ended_at is null;
create index http_claim_holder on {schema}.http_claim (holder) where ended_at is null;
create index http_claim_ended on {schema}.http_claim (ended_at) where ended_at is not null;
create sequence {schema}.http_claim_no;

-- The session of this worker, made or renewed, and what it serves: queues, and names that jobs of its types may have.
-- p_types empty: every http definition of the queues; p_queues empty: the queues of the types. Statuses: open |
-- unknown_type | unknown_queue | other_kind | other_queue (detail: which) | no_types. known: what there is instead.
-- sealed: a type among them whose payloads are encrypted.
create function {schema}.door_open_work(p_worker_id text, p_queues text[], p_types text[], p_seconds double precision,
    p_metadata jsonb, out status text, out detail text, out known text[], out holder uuid, out queues text[], out types text[],
    out sealed text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    keys text[];
    versions jsonb;
begin
    if not {schema}.sees_all() and {schema}.scope_tenant() is null then
        status := 'no_types';
        return;
    end if;
    keys := array(select d.key from {schema}.job_definition d
                   where case when cardinality(p_types) = 0 then d.kind = 'http' and d.queue = any (p_queues)
                              else d.key = any (p_types) or d.aliases && p_types end order by d.key);
    select u.name, 'unknown_type' into detail, status from unnest(p_types) as u(name)
     where not exists (select from {schema}.job_definition d where d.key = u.name or d.aliases @> array[u.name]) limit 1;
    if status is null then
        select u.name, 'unknown_queue' into detail, status from unnest(p_queues) as u(name)
         where not exists (select from {schema}.queue q where q.name = u.name) limit 1;
    end if;
    if status is null then
        select d.key, 'other_kind' into detail, status from {schema}.job_definition d
         where d.key = any (keys) and d.kind <> 'http' limit 1;
    end if;
    if status is null then
        select d.queue, 'other_queue' into detail, status from {schema}.job_definition d
         where d.queue = any (p_queues) and d.kind <> 'http' limit 1;
    end if;
    if status is null and cardinality(keys) = 0 then
        status := 'no_types';
    end if;
    if status is not null then
        known := array(select distinct case when status in ('unknown_type', 'other_kind') then d.key else d.queue end
                         from {schema}.job_definition d where d.kind = 'http' order by 1 limit 100);
        return;
    end if;
    status := 'open';
    queues := case when cardinality(p_queues) > 0 then p_queues
                   else array(select distinct d.queue from {schema}.job_definition d where d.key = any (keys) order by 1) end;
    types := array(select d.key from {schema}.job_definition d where d.key = any (keys)
                   union select unnest(d.aliases) from {schema}.job_definition d where d.key = any (keys));
    select jsonb_object_agg(d.key, d.version::text), min(d.key) filter (where d.encrypted) into versions, sealed from {schema}.job_definition d where d.key = any (keys);
    holder := {schema}.http_holder({schema}.scope_tenant(), p_worker_id, p_seconds);
    insert into {schema}.worker as w (holder, worker_id, hostname, pid, queues, job_types, started_at, last_seen_at, metadata)
    values (door_open_work.holder, p_worker_id, 'http', 0, door_open_work.queues, keys, {schema}.now(), {schema}.now(),
            p_metadata || jsonb_build_object('kind', 'http', 'definitions', versions, 'tenant_id', {schema}.scope_tenant()))
    on conflict on constraint worker_pkey do update set queues = excluded.queues, job_types = excluded.job_types,
        last_seen_at = excluded.last_seen_at, metadata = excluded.metadata;
end
$$;

-- The holder of a live session, its lease renewed to at least p_seconds from now, or of a new one.
create function {schema}.http_holder(p_tenant uuid, p_worker_id text, p_seconds double precision) returns uuid
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
    until timestamptz := moment + p_seconds * interval '1 second';
    own uuid;
begin
    select s.holder into own from {schema}.http_session s
     where coalesce(s.tenant_id, '00000000-0000-0000-0000-000000000000')
           = coalesce(p_tenant, '00000000-0000-0000-0000-000000000000') and s.worker_id = p_worker_id;
    update {schema}.lease l set expires_at = greatest(l.expires_at, until) where l.holder = own and l.expires_at > moment;
    if not found then
        own := gen_random_uuid();
        insert into {schema}.lease (holder, started_at, expires_at) values (own, moment, until);
        -- Two first claims at once under one name: both sessions live, the later one is the one that goes on.
        insert into {schema}.http_session (holder, tenant_id, worker_id) values (own, p_tenant, p_worker_id)
        on conflict (coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'), worker_id)
            do update set holder = excluded.holder;
    end if;
    return own;
end
$$;

-- Counts anew what this session runs, for people.
create function {schema}.http_running(p_holder uuid) returns void
language plpgsql volatile as $$
begin
    update {schema}.worker w
       set last_seen_at = {schema}.now(),
           running_count = (select count(*) from {schema}.http_claim c where c.holder = p_holder and c.ended_at is null)
     where w.holder = p_holder;
end
$$;

-- Where there is work in these queues, as discover_lanes finds it; a tenant's worker is shown its tenant's lanes only.
-- All tickets of a lane are one tenant's, but in the lane of "no lane".
create function {schema}.door_work_lanes(p_queues text[], p_most integer)
returns table (queue text, queue_priority integer, lane uuid, priority integer, weight integer)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select d.queue, q.priority, d.lane, d.priority, coalesce(l.weight, 1)
      from {schema}.discover_lanes(p_queues, p_most) d
      join {schema}.queue q on q.name = d.queue
      left join {schema}.lane l on l.queue = d.queue and l.lane = d.lane
     where (q.paused_at is null or q.resume_at <= (select {schema}.now()))
       and case when (select {schema}.sees_all()) or d.lane in ((select {schema}.scope_tenant()), '00000000-0000-0000-0000-000000000000')
                then true
                else exists (select from (select r.id from {schema}.ready r
                                           where r.queue = d.queue and r.lane = d.lane and r.priority = d.priority
                                           order by r.ready_at, r.id limit 1) f
                              cross join lateral (select b.tenant_id from {schema}.any_job b where b.id = f.id offset 0) b
                              where b.tenant_id = (select {schema}.scope_tenant())) end;
end
$$;

-- Takes up to p_total jobs, lane by lane in the order given, as claim does, but only jobs of these types and within the
-- scope, each under a lease of its own. A row for each job, and one without a job for each lane that was asked for fewer
-- than wanted: asked, wait_seconds until its limit has a token, contended: try again at once.
create function {schema}.door_claim_work(p_holder uuid, p_total integer, p_lease_seconds double precision, p_types text[],
    p_queues text[], p_lanes uuid[], p_priorities integer[], p_from timestamptz[], p_counts integer[])
returns table (slot integer, asked integer, wait_seconds double precision, contended boolean, job jsonb)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    n constant integer := cardinality(p_counts);
    counts integer[] := p_counts;
    waits double precision[] := array_fill(0::double precision, array[n]);
    rivals boolean[] := array_fill(false, array[n]);
    bound boolean[] := array_fill(false, array[n]);
    taken integer[] := array_fill(0, array[n]);
    capped text[];
    one record;
    free integer;
begin
    if not exists (select from {schema}.http_session s join {schema}.lease l on l.holder = s.holder
                    where s.holder = p_holder and l.expires_at > (select {schema}.now()) and {schema}.in_scope(s.tenant_id)) then
        return;
    end if;
    -- The first half of a lane (18 characters of its text) tells a type that has lanes of its own.
    select array_agg(case when d.worker_limit is not null then d.key end order by u.n)
      into capped
      from unnest(p_lanes) with ordinality as u(lane, n)
      left join {schema}.job_definition d on coalesce(d.limit_lane, d.lane) like 'type%' and (left(u.lane::text, 18)
           = left({schema}.lane_of('type', '00000000-0000-0000-0000-000000000000', d.key, '{}', null)::text, 18)
           or {schema}.is_refused_lane(u.lane, d.key) or exists (
               select from unnest(d.aliases) as x(name) where {schema}.is_refused_lane(u.lane, x.name)));
    -- What this worker may hold of a type: its lanes share one count.
    for one in
        select d.key, greatest(0, d.worker_limit - (select count(*) from {schema}.http_claim c
               where c.holder = p_holder and c.ended_at is null and c.job_type = d.key))::integer as free
          from {schema}.job_definition d where d.key = any (capped)
    loop
        free := one.free;
        for i in 1 .. n loop
            if capped[i] = one.key then
                counts[i] := least(counts[i], free);
                free := free - counts[i];
            end if;
        end loop;
    end loop;
    for one in select c.* from {schema}.claim_work(p_holder, p_total, p_lease_seconds, p_types,
            p_queues, p_lanes, p_priorities, p_from, counts) c loop
        slot := one.slot; asked := counts[slot]; wait_seconds := 0; contended := false; job := one.job;
        if job is null then
            waits[slot] := one.wait_seconds; rivals[slot] := one.contended; bound[slot] := true;
        else
            taken[slot] := taken[slot] + 1;
            return next;
        end if;
    end loop;
    perform {schema}.http_running(p_holder);
    for i in 1 .. n loop
        if counts[i] < p_counts[i] or bound[i] then
            slot := i; asked := case when bound[i] then taken[i] else counts[i] end; wait_seconds := waits[i]; contended := rivals[i]; job := null;
            return next;
        end if;
    end loop;
end
$$;

-- The claim itself. A ticket whose body is gone is taken, too: whoever claims it buries it. job NULL: a limit binds this line.
create function {schema}.claim_work(p_holder uuid, p_total integer, p_lease_seconds double precision, p_types text[],
    p_queues text[], p_lanes uuid[], p_priorities integer[], p_from timestamptz[], p_counts integer[])
returns table (slot integer, wait_seconds double precision, contended boolean, job jsonb)
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
    number constant bigint := nextval('{schema}.http_claim_no');
    moment constant timestamptz := {schema}.now();
    until constant timestamptz := moment + p_lease_seconds * interval '1 second';
    paused constant text[] := {schema}.paused_types();
    served text[] := p_types;
    picked record;
begin
    if cardinality(paused) > 0 then
        served := array(select t.name from unnest(p_types) as t(name) where t.name <> all (paused));
    end if;
    select p.* into picked from {schema}.pick_limited(p_total, p_total, p_queues, p_lanes, p_priorities, p_from, p_counts,
            '{}', '{}', served, case when not {schema}.sees_all() then {schema}.scope_tenant() end) p;
    -- A seat, or a lane that changed: nobody here is told when, so it is looked at again soon.
    return query
    select u.slot, case when u.wait > 0 or u.rival then u.wait when u.limit_id is null then 0.001 else 0.2 end::double precision, u.rival,
           null::jsonb
      from unnest(picked.n_slot, picked.n_limit, picked.n_wait, picked.n_rival) as u(slot, limit_id, wait, rival) where u.slot > 0;
    return query
    with picks as materialized (
        select u.slot, u.seat_no, u.n, r.*, b.job_type, b.timeout_seconds, coalesce(b.tenant_id, r.lane) as tenant_id
          from unnest(picked.tids, picked.slots, picked.numbers) with ordinality as u(tid, slot, seat_no, n)
          join {schema}.ready r on r.ctid = u.tid
          left join lateral (select j.job_type, j.tenant_id, j.timeout_seconds from {schema}.job j where j.id = r.id
                             union all
                             select k.job_type, k.tenant_id, k.timeout_seconds from {schema}.job_kept k
                              where k.id = r.id offset 0) b on true
         order by u.n
    ), gone as (
        delete from {schema}.ready r where r.ctid = any (picked.tids)
    ), begun as (
        insert into {schema}.running (id, holder, claim_no, queue, lane, priority, attempt, run, lost, claimed_at, seat_no)
        select p.id, p_holder, number, p.queue, p.lane, p.priority, p.attempt, p.run + 1, p.lost, moment,
               p.seat_no
          from picks p
    ), leased as (
        insert into {schema}.http_claim (job_id, claim_no, holder, tenant_id, job_type, ready_at, lease_seconds, expires_at, deadline)
        select p.id, number, p_holder, p.tenant_id, coalesce(p.job_type, ''), p.ready_at, p_lease_seconds, until,
               moment + p.timeout_seconds * interval '1 second'
          from picks p
    )
    select p.slot, 0::double precision, false,
           jsonb_build_object('id', p.id, 'queue', p.queue, 'ready_at', p.ready_at, 'attempt', p.attempt, 'run', p.run + 1,
               'lost', p.lost, 'claim_no', number, 'claimed_at', moment, 'lease_expires_at', until, 'tenant_id', p.tenant_id)
           || {schema}.work_facts(p.id)
      from picks p order by p.n;
end
$$;

-- What of a body its worker is told; payload as its text, which nobody reads on the way. Where the body is gone: {}.
create function {schema}.work_facts(p_id uuid) returns jsonb
language plpgsql stable as $$
declare
    b {schema}.job;
begin
    select j.* into b from {schema}.job j where j.id = p_id;
    if not found then
        select k.* into b from {schema}.job_kept k where k.id = p_id;
        if not found then
            return '{}';
        end if;
    end if;
    return jsonb_build_object('job_type', b.job_type, 'payload', b.payload::text, 'max_attempts', b.max_attempts,
        'timeout_seconds', b.timeout_seconds, 'expired', coalesce(b.expires_at <= {schema}.now(), false),
        'created_at', b.created_at, 'project_id', b.project_id, 'actor_type', b.actor_type, 'actor_id', b.actor_id,
        'request_id', b.request_id, 'correlation_id', b.correlation_id, 'traceparent', b.traceparent,
        'idempotency_key', b.idempotency_key, 'scheduled_for', b.scheduled_for)
        || case when b.workflow_id is null then '{}' else jsonb_build_object('workflow', {schema}.step_facts(b.workflow_id, p_id)) end;
end
$$;

-- What the outcomes of these types' jobs follow: the columns of definitions/followed.sql.
create function {schema}.door_work_types(p_types text[])
returns table (key text, kind text, version integer, queue text, arg_schema text, argv_template text, env_allow text[],
    timeout_seconds double precision, max_attempts integer, retry text, on_exhausted text, keep text, worker_limit integer,
    aliases text[], strict_envelope boolean, secrets text, secret_keys text[], encrypted boolean, log_fields text[], budget text,
    edited text[])
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select d.key, d.kind, d.version, d.queue, d.arg_schema::text, d.argv_template::text, d.env_allow, d.timeout_seconds,
           d.max_attempts, d.retry::text, d.on_exhausted, d.keep, d.worker_limit, d.aliases, d.strict_envelope, d.secrets,
           d.secret_keys, d.encrypted, d.log_fields, d.budget, d.edited
      from {schema}.job_definition d
     where d.kind = 'http' and (d.key = any (p_types) or d.aliases && p_types) order by d.key;
end
$$;

-- Before a job is given to an HTTP worker: where the budgets of its type's definition stand, as budget_standing tells it.
create function {schema}.door_budget_standing(p_name text, p_tenant uuid) returns setof jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if {schema}.in_scope(p_tenant) then
        return query select to_jsonb(s) from {schema}.budget_standing(p_name, p_tenant) s;
    end if;
end
$$;

-- Does the organization exist, and is the project, if Postmill knows it, one of its own?
create function {schema}.door_check_org(p_tenant uuid, p_project uuid, out there boolean, out owns boolean)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    there := exists (select from {schema}.tenant t where t.id = p_tenant);
    owns := not exists (select from {schema}.project p where p.id = p_project and p.tenant_id <> p_tenant);
end
$$;

-- An HTTP worker waits: every queue it serves rings from here on. Each watches, for a queue of http workers has no other
-- sleepers, and all servers hear every ring. p_seconds 0: it waits no longer.
create function {schema}.door_doze_work(p_holder uuid, p_queues text[], p_seconds double precision) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if exists (select from {schema}.http_session s where s.holder = p_holder and {schema}.in_scope(s.tenant_id)) then
        perform {schema}.wake(p_holder, p_queues);
        insert into {schema}.sleeper (queue, watch, valid_until, holder)
        select distinct u.name, true, {schema}.now() + p_seconds * interval '1 second', p_holder
          from unnest(p_queues) as u(name) where p_seconds > 0 order by 1;
    end if;
end
$$;

-- A claim whose answer found nobody: its jobs are ready again, at no cost.
create function {schema}.door_release_work(p_holder uuid, p_claim_no bigint) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    rung record;
begin
    if exists (select from {schema}.http_session s where s.holder = p_holder and {schema}.in_scope(s.tenant_id)) then
        for rung in select c.id, c.queue, c.lane, c.priority from {schema}.release_claims(p_holder, array[p_claim_no]) c loop
            delete from {schema}.http_claim h where h.job_id = rung.id and h.claim_no = p_claim_no;
            perform {schema}.ring(rung.queue, rung.lane, rung.priority);
        end loop;
        perform {schema}.http_running(p_holder);
    end if;
end
$$;

-- Answers older than an hour, claims that ended in another way, sessions that are over.
create function {schema}.sweep_http(p_most integer) returns void
language plpgsql volatile as $$
declare
    edge timestamptz := {schema}.now() - interval '1 hour';
begin
    delete from {schema}.http_claim c where c.ctid = any (array(
        select o.ctid from {schema}.http_claim o where o.ended_at < edge limit p_most for update skip locked));
    delete from {schema}.http_claim c where c.ended_at is null and c.expires_at < edge
       and not exists (select from {schema}.running r where r.id = c.job_id and r.claim_no = c.claim_no);
    delete from {schema}.http_session s
     where not exists (select from {schema}.lease l where l.holder = s.holder and l.expires_at > edge);
end
$$;
