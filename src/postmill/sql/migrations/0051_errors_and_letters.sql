-- postmill: safe
-- What people do about causes of failures: mark a group, write on it, pause its job type (0012); and the reads of the pages
-- of errors and dead letters.

create table {schema}.error_group_note (
    note_id uuid primary key default {schema}.new_id(),
    id text collate "C" not null references {schema}.error_group on delete cascade,
    at timestamptz not null,
    actor_type text collate "C" not null,
    actor_id text,
    text text not null check (length(text) between 1 and 4000)
);
create index error_group_note_of on {schema}.error_group_note (id, note_id);

create function {schema}.pause_json(p {schema}.type_pause) returns jsonb
language plpgsql immutable as $$
begin
    return case when p.id is not null then jsonb_build_object('paused_at', p.paused_at, 'reason', p.reason, 'resume_at', p.resume_at) end;
end
$$;

-- False: there is no such type, or none that this caller may touch. A pause of a paused type takes the place of the other one.
create function {schema}.door_pause_type(p_job_type text, p_reason text default null, p_resume_at timestamptz default null,
    p_actor_type text default null, p_actor_id text default null) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
    before {schema}.type_pause;
    own {schema}.type_pause;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    if not {schema}.sees_all() then
        return false;
    end if;
    perform from {schema}.job_definition d where d.key = p_job_type for update;
    if not found then
        return false;
    end if;
    before := {schema}.type_paused(p_job_type);
    perform {schema}.end_pause(p_job_type, moment);
    insert into {schema}.type_pause as p (job_type, paused_at, paused_by, reason, resume_at, held_until)
    values (p_job_type, coalesce(before.paused_at, moment), {schema}.acting_id(), p_reason,
            case when isfinite(p_resume_at) then p_resume_at end,
            coalesce(case when isfinite(p_resume_at) then p_resume_at end, moment + interval '100 years')
            + random() * interval '999 milliseconds') returning p.* into own;
    perform {schema}.audit('types.pause', 'definition', p_job_type, null, {schema}.pause_json(before), {schema}.pause_json(own), p_reason);
    perform {schema}.tell('!pause');
    return true;
end
$$;

create function {schema}.door_resume_type(p_job_type text, p_actor_type text default null, p_actor_id text default null) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    before {schema}.type_pause;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    if not {schema}.sees_all() then
        return false;
    end if;
    perform from {schema}.job_definition d where d.key = p_job_type for update;
    if not found then
        return false;
    end if;
    before := {schema}.type_paused(p_job_type);
    perform {schema}.end_pause(p_job_type, {schema}.now());
    perform {schema}.release_held(1000);
    perform {schema}.audit('types.resume', 'definition', p_job_type, null, {schema}.pause_json(before), null);
    perform {schema}.tell('!resume'), {schema}.tell('!operations');
    return true;
end
$$;

-- Pauses that hold now; to tenants too, who may not see by whom. held: jobs within the scope that a worker put back for it,
-- counted among the first p_most of all.
create function {schema}.read_type_pauses(p_job_type text default null, p_most integer default 10001)
returns table (job_type text, paused_at timestamptz, paused_by text, reason text, resume_at timestamptz, queue text, held bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    own constant uuid := {schema}.scope_tenant();
begin
    return query
    select p.job_type, p.paused_at, case when (select {schema}.sees_all()) then p.paused_by end, p.reason, p.resume_at, d.queue, h.n
      from {schema}.type_pause p
      left join {schema}.job_definition d on d.key = p.job_type
     cross join lateral (select count(*) filter (where own is null or t.lane = own) as n
                           from (select s.lane from {schema}.scheduled s where s.run_at = p.held_until limit p_most) t) h
     where p.ended_at is null and (p.resume_at is null or p.resume_at > (select {schema}.now()))
       and (p_job_type is null or p.job_type = p_job_type)
     order by p.job_type;
end
$$;

-- The platform's word on a group. p_act: ignore (until p_until) | resolve (in p_version, the present one if NULL; p_build carries
-- the repair) | reopen.
-- changed | unknown | out_of_scope
create function {schema}.door_mark_error(p_id text, p_act text, p_until timestamptz default null, p_version integer default null,
    p_reason text default null, p_actor_type text default null, p_actor_id text default null, p_build text default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    old {schema}.error_group;
    new {schema}.error_group;
begin
    if not {schema}.sees_all() then
        return 'out_of_scope';
    end if;
    perform {schema}.act_as(p_actor_type, p_actor_id);
    select g.* into old from {schema}.error_group g where g.id = p_id for update;
    if not found then
        return 'unknown';
    end if;
    update {schema}.error_group g
       set ignored_until = case p_act when 'ignore' then p_until end,
           resolved_at = case p_act when 'resolve' then {schema}.now() when 'ignore' then g.resolved_at end,
           resolved_version = case p_act when 'resolve' then coalesce(p_version,
                   (select d.version from {schema}.job_definition d where d.key = g.job_type), g.last_version, 1)
               when 'ignore' then g.resolved_version end,
           resolved_build = case p_act when 'resolve' then p_build when 'ignore' then g.resolved_build end,
           regressed_at = case p_act when 'ignore' then g.regressed_at end,
           marked_by = {schema}.acting_id(), mark_note = p_reason
     where g.id = p_id returning g.* into new;
    perform {schema}.audit('errors.' || p_act, 'error_group', p_id, null,
        jsonb_build_object('ignored_until', old.ignored_until, 'resolved_version', old.resolved_version, 'resolved_at', old.resolved_at,
            'resolved_build', old.resolved_build),
        jsonb_build_object('ignored_until', new.ignored_until, 'resolved_version', new.resolved_version, 'resolved_at', new.resolved_at,
            'resolved_build', new.resolved_build),
        p_reason);
    return 'changed';
end
$$;

-- changed | unknown | out_of_scope
create function {schema}.door_note_error(p_id text, p_text text, p_actor_type text default null, p_actor_id text default null)
returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if not {schema}.sees_all() then
        return 'out_of_scope';
    end if;
    perform {schema}.act_as(p_actor_type, p_actor_id);
    perform from {schema}.error_group g where g.id = p_id for key share;
    if not found then
        return 'unknown';
    end if;
    insert into {schema}.error_group_note (id, at, actor_type, actor_id, text)
    values (p_id, {schema}.now(), {schema}.acting_type(), {schema}.acting_id(), p_text);
    perform {schema}.audit('errors.note', 'error_group', p_id, null, null, jsonb_build_object('text', p_text));
    return 'changed';
end
$$;

-- Notes are the platform's, the latest first.
create function {schema}.read_error_notes(p_id text, p_most integer default 50)
returns table (at timestamptz, actor_type text, actor_id text, text text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select n.at, n.actor_type, n.actor_id, n.text from {schema}.error_group_note n
     where n.id = p_id and (select {schema}.sees_all()) order by n.note_id desc limit p_most;
end
$$;

-- Whom a group affects, to be told: every tenant, noted in the log as an export. jobs: that failed so, as far as they are in
-- history; of those that were given up how many were replayed, and what came of it: succeeded, or not (given up again, failed,
-- canceled); the rest of them has not ended. NULL: there are more than 20,000 of them, which nobody waits for.
create function {schema}.door_export_tenants(p_id text, p_most integer default 100000)
returns table (tenant_id uuid, slug text, name text, first_seen_at timestamptz, last_seen_at timestamptz, count bigint,
    dead bigint, sample_job uuid, jobs bigint, replayed bigint, replays_succeeded bigint, replays_failed bigint)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
    most constant integer := 20000;
begin
    if not {schema}.sees_all() then
        return;
    end if;
    perform {schema}.audit('errors.export', 'error_group', p_id);
    return query
    with hit as materialized (
        select h.tenant_id, h.job_id from (
            select a.tenant_id, a.job_id from {schema}.attempt a where a.error_group = p_id
            union select o.tenant_id, o.job_id from {schema}.outcome o where o.error_group = p_id
            union select d.tenant_id, d.id from {schema}.dead_letter d where d.error_group = p_id) h limit most + 1
    ), whole as (
        select count(*) <= most as fits from hit
    ), told as (
        select h.tenant_id, count(*) as n, count(r.state) as again, count(*) filter (where r.state = 'succeeded') as good,
               count(*) filter (where r.state in ('failed', 'canceled', 'dead_letter')) as bad
          from hit h
          left join lateral (
            select coalesce(e.status, case when x.id is not null then 'dead_letter' else 'open' end) as state
              from {schema}.outcome o
             cross join lateral (select f.id from (select j.id from {schema}.any_job j where j.replayed_from = h.job_id offset 0) f
                                  order by f.id desc limit 1) n
              left join lateral (select s.status from {schema}.outcome s where s.job_id = n.id offset 0) e on true
              left join lateral (select d.id from {schema}.dead_letter d where d.id = n.id offset 0) x on true
             where o.job_id = h.job_id and o.status = 'dead_letter') r on true
         where (select w.fits from whole w) group by 1
    )
    select t.tenant_id, n.slug, n.name, t.first_seen_at, t.last_seen_at, t.count, coalesce(y.n, 0)::bigint, t.sample_job,
           case when w.fits then coalesce(k.n, 0) end, case when w.fits then coalesce(k.again, 0) end,
           case when w.fits then coalesce(k.good, 0) end, case when w.fits then coalesce(k.bad, 0) end
      from {schema}.error_group_tenant t
     cross join whole w
      left join told k on k.tenant_id = t.tenant_id
      left join {schema}.tenant n on n.id = t.tenant_id
      left join (select d.tenant_id, sum(d.opened - d.closed) as n from {schema}.dead_tally d where d.error_group = p_id group by 1) y
             on y.tenant_id = t.tenant_id
     where t.id = p_id order by t.count desc, t.tenant_id limit p_most;
end
$$;

-- Open dead letters of a group, by tenant.
create function {schema}.read_error_dead(p_id text) returns table (tenant_id uuid, n bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select d.tenant_id, sum(d.opened - d.closed)::bigint from {schema}.dead_tally d where d.error_group = p_id group by 1
    having sum(d.opened - d.closed) > 0;
end
$$;

-- How often groups happened within the scope, in buckets of p_seconds from p_since on.
create function {schema}.read_error_minutes(p_ids text[], p_since timestamptz, p_until timestamptz, p_seconds double precision,
    p_tenant uuid default null)
returns table (id text, bucket integer, n bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
set enable_seqscan = off as $$
declare
    own uuid := coalesce(p_tenant, {schema}.scope_tenant(), '00000000-0000-0000-0000-000000000000');
begin
    return query
    select u.id, floor(extract(epoch from m.minute - p_since) / p_seconds)::integer, sum(m.n)::bigint
      from unnest(p_ids) as u(id)
     cross join lateral (select x.minute, x.n from {schema}.error_group_minute x
                          where x.id = u.id and x.tenant_id = own and x.minute >= p_since and x.minute < p_until) m
     group by 1, 2 order by 1, 2;
end
$$;

-- Jobs that failed so, of each group: counted up to p_most. One plan for all groups: with each partition in it, a plan takes
-- longer than the count.
create function {schema}.read_error_jobs(p_ids text[], p_most integer default 10000)
returns table (id text, n bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashagg = off set enable_sort = off as $$
declare
    own uuid := {schema}.scope_tenant();
begin
    -- One by one: each index is read in its order, and no further than to the last that counts.
    foreach id in array p_ids loop
        if own is null then
            select count(distinct j.job_id) into n from (
                (select distinct o.job_id from {schema}.outcome o
                  where o.error_group = read_error_jobs.id order by 1 desc limit p_most)
                union all
                (select distinct a.job_id from {schema}.attempt a
                  where a.error_group = read_error_jobs.id order by 1 desc limit p_most)) j;
        else
            select count(distinct j.job_id) into n from (
                (select distinct o.job_id from {schema}.outcome o
                  where o.error_group = read_error_jobs.id and o.tenant_id = own order by 1 desc limit p_most)
                union all
                (select distinct a.job_id from {schema}.attempt a
                  where a.error_group = read_error_jobs.id and a.tenant_id = own order by 1 desc limit p_most)) j;
        end if;
        return next;
    end loop;
end
$$;

-- Jobs to compare: the p_failed latest that failed so, and p_fine of the same type that succeeded among the p_look latest of
-- all. Who ran them is the platform's to see: of a letter that was closed its last attempt says it. Payloads of up to 4,000
-- characters.
-- shape: of a stack without its figures, so that like is like.
create function {schema}.read_error_samples(p_id text, p_job_type text, p_failed integer default 300, p_fine integer default 200,
    p_look integer default 5000)
returns table (failed boolean, job_id uuid, tenant_id uuid, finished_at timestamptz, worker text, host text, build text,
    version integer, shape text, payload text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
set enable_seqscan = off set jit = off as $$
declare
    whole boolean := {schema}.sees_all();
begin
    return query
    with bad as materialized (
        select distinct on (x.job_id) x.* from (
            (select o.job_id, o.tenant_id, o.finished_at, o.holder, o.stack from {schema}.outcome o
              where o.error_group = p_id order by o.job_id desc limit p_failed)
            union all
            (select a.job_id, a.tenant_id, a.finished_at, a.holder, a.stack from {schema}.attempt a
              where a.error_group = p_id order by a.job_id desc limit p_failed)) x
         order by x.job_id desc, x.holder is null, x.finished_at desc limit p_failed
    ), fine as materialized (
        select o.job_id, o.tenant_id, o.finished_at, o.holder
          from (select j.id from (select b.id, b.job_type from {schema}.job b order by b.id desc limit p_look) j
                 where j.job_type = p_job_type) j
         cross join lateral (select s.* from {schema}.outcome s where s.job_id = j.id and s.status = 'succeeded' offset 0) o
         limit p_fine
    ), met as (
        select true as failed, b.job_id, b.tenant_id, b.finished_at, b.holder, md5(regexp_replace(b.stack, '[0-9]+', '', 'g')) as shape
          from bad b
        union all
        select false, f.job_id, f.tenant_id, f.finished_at, f.holder, null from fine f
    ), holders as materialized (
        select w.holder, w.worker_id, w.hostname, w.build, w.metadata -> 'definitions' ->> p_job_type as code
          from {schema}.worker w where w.holder in (select b.holder from met b)
    ), versions as materialized (
        select v.version, v.at, case when d.kind = 'function' then v.definition ->> 'fingerprint' else v.version::text end as code
          from {schema}.job_definition d join {schema}.definition_version v on v.definition_id = d.id where d.key = p_job_type
    )
    select b.failed, b.job_id, b.tenant_id, b.finished_at, case when whole then h.worker_id end, case when whole then h.hostname end,
           case when whole then h.build end,
           (select max(v.version) from versions v where v.code = h.code and v.at <= b.finished_at), b.shape, case when length(p.payload) <= 4000 then p.payload end
      from met b left join holders h on h.holder = b.holder
      left join lateral (select j.payload::text as payload from {schema}.any_job j where j.id = b.job_id offset 0) p on true
     order by b.failed desc, b.job_id desc;
end
$$;

-- How these jobs failed so: the last time of each.
create function {schema}.read_error_stacks(p_id text, p_jobs uuid[])
returns table (job_id uuid, tenant_id uuid, attempt integer, finished_at timestamptz, error_class text, error_message text, stack text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
    return query
    select u.id, x.tenant_id, x.attempt, x.finished_at, x.error_class, left(x.error_message, 2000), left(x.stack, 20000)
      from unnest(p_jobs) as u(id)
     cross join lateral (
        select y.* from (
            select o.tenant_id, o.attempt, o.finished_at, o.error_class, o.error_message, o.stack, o.holder is null as closed
              from {schema}.outcome o where o.job_id = u.id and o.error_group = p_id
            union all
            select a.tenant_id, a.attempt, a.finished_at, a.error_class, a.error_message, a.stack, false
              from {schema}.attempt a where a.job_id = u.id and a.error_group = p_id offset 0) y
         order by y.closed, y.finished_at desc limit 1) x;
end
$$;

-- The first job that failed so and is still there.
create function {schema}.read_error_first(p_id text) returns uuid
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
    return least((select o.job_id from {schema}.outcome o where o.error_group = p_id order by o.job_id limit 1),
                 (select a.job_id from {schema}.attempt a where a.error_group = p_id order by a.job_id limit 1));
end
$$;

-- What changed for a job type since p_since: deploy (a version of its definition), build or build_again (of the application;
-- target: the first worker of it), pause, resume, replay. The platform's to see.
create function {schema}.read_type_marks(p_job_type text, p_since timestamptz, p_most integer default 50)
returns table (at timestamptz, kind text, label text, target text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select * from (
        (select v.at, 'deploy', 'v' || v.version, v.version::text
           from {schema}.job_definition d join {schema}.definition_version v on v.definition_id = d.id
          where d.key = p_job_type and v.at >= p_since order by v.version desc limit p_most)
        union all
        (select b.at, case when b.again then 'build_again' else 'build' end, b.build, b.holder::text
           from {schema}.read_builds(p_since, p_job_type, p_most) b)
        union all
        (select p.paused_at, 'pause', coalesce(p.reason, ''), p.id::text from {schema}.type_pause p
          where p.job_type = p_job_type and p.paused_at >= p_since order by p.paused_at desc limit p_most)
        union all
        (select e.at, 'resume', '', p.id::text from {schema}.type_pause p
          cross join lateral (select coalesce(p.ended_at, p.resume_at) as at) e
          where p.job_type = p_job_type and e.at >= p_since and e.at <= (select {schema}.now())
            and not exists (select from {schema}.type_pause o where o.job_type = p.job_type and o.paused_at = p.paused_at and o.id > p.id)
          order by e.at desc limit p_most)
        union all
        (select o.created_at, 'replay', o.total::text, o.id::text from {schema}.operation o
          where o.kind = 'replay' and o.id >= {schema}.id_at(p_since) and (o.filter ->> 'job_type' = p_job_type
                or o.filter ->> 'error_group' in (select g.id from {schema}.error_group g where g.job_type = p_job_type))
          order by o.id desc limit p_most)) m(at, kind, label, target)
     order by 1 desc limit p_most;
end
$$;
