-- postmill: safe
-- A pin binds a job to one version of its definition: only workers that run the code of this version take it. Its ticket lies
-- in a lane of the version's own, whose first half tells which one; a job without a pin has no row here and pays for nothing.

create table {schema}.pin (
    job_id uuid primary key,
    tenant_id uuid not null,
    job_type text collate "C" not null,
    version integer not null,
    -- The first half of its lane, and zeros.
    lane uuid not null
);
create index pin_lane on {schema}.pin (lane);

-- The first half of the lanes of a version, as 16 digits.
create function {schema}.version_half(p_job_type text, p_version integer) returns text
language plpgsql immutable parallel safe as $$
begin
    return left(md5('version:' || p_version || ':' || p_job_type), 16);
end
$$;

-- By what live workers tell that they run a version: the fingerprint of its code. NULL: nobody can run it, for it is not known
-- any more, or it is another one than the present of a command or of HTTP workers, of which only the present one runs. Empty:
-- the present one of these.
create function {schema}.version_code(p_job_type text, p_version integer) returns text
language plpgsql stable as $$
begin
    return (select case when d.kind <> 'function' then case when d.version = p_version then '' end
                        when d.version = p_version then nullif(d.fingerprint, '')
                        else (select nullif(v.definition ->> 'fingerprint', '') from {schema}.definition_version v
                               where v.definition_id = d.id and v.version = p_version and v.definition ->> 'kind' = 'function') end
              from {schema}.job_definition d where d.key = p_job_type);
end
$$;

-- Under which version of its definition a job was made, or to which one it was bound.
create function {schema}.original_version(p_id uuid) returns integer
language plpgsql stable as $$
begin
    return coalesce((select p.version from {schema}.pin p where p.job_id = p_id), (
        select coalesce((select max(v.version) from {schema}.definition_version v where v.definition_id = d.id and v.at <= j.created_at),
                        d.version)
          from (select f.job_type, f.created_at from {schema}.any_job f where f.id = p_id offset 0) j
          join {schema}.job_definition d on d.key = j.job_type));
end
$$;

-- Has the definition of a job changed since the job was made, or gone?
create function {schema}.definition_changed(p_id uuid) returns boolean
language plpgsql stable as $$
begin
    return not exists (
        select from (select f.job_type, f.created_at from {schema}.any_job f where f.id = p_id offset 0) j
          join {schema}.job_definition d on d.key = j.job_type
         where d.is_active and d.version = coalesce((select max(v.version) from {schema}.definition_version v
                                                      where v.definition_id = d.id and v.at <= j.created_at), d.version));
end
$$;

-- How many live workers run this code of a job type.
create function {schema}.code_workers(p_job_type text, p_code text) returns bigint
language plpgsql stable as $$
begin
    return (select count(*) from {schema}.worker w join {schema}.lease l on l.holder = w.holder and l.expires_at > (select {schema}.now())
             where w.stopped_at is null and not w.draining and w.metadata -> 'definitions' ->> p_job_type = p_code);
end
$$;

-- Binds a job that was just made in this transaction: its ticket has been in no other lane for anybody to see. Those who sleep
-- and run this code are woken by name; the watchman of the queue need not be one of them.
create function {schema}.pin_job(p_id uuid, p_tenant uuid, p_job_type text, p_version integer, p_code text) returns void
language plpgsql volatile as $$
declare
    half constant text := {schema}.version_half(p_job_type, p_version);
begin
    insert into {schema}.pin (job_id, tenant_id, job_type, version, lane)
    values (p_id, p_tenant, p_job_type, p_version, (half || '0000000000000000')::uuid);
    with gone as (delete from {schema}.ready r where r.id = p_id returning r.*)
    insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
    select g.queue, (half || left(md5(g.lane::text), 16))::uuid, g.priority, g.ready_at, g.id, g.attempt, g.run, g.lost from gone g;
    with gone as (delete from {schema}.scheduled s where s.id = p_id returning s.*)
    insert into {schema}.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
    select g.queue, (half || left(md5(g.lane::text), 16))::uuid, g.run_at, g.id, g.priority, g.attempt, g.run, g.lost from gone g;
    with gone as (delete from {schema}.blocked b where b.id = p_id returning b.*)
    insert into {schema}.blocked (id, queue, lane, priority, attempt, run, lost)
    select g.id, g.queue, (half || left(md5(g.lane::text), 16))::uuid, g.priority, g.attempt, g.run, g.lost from gone g;
    perform {schema}.wake_knowing(r.queue, p_job_type, p_code) from {schema}.ready r where r.id = p_id;
end
$$;

-- The versions that jobs are bound to, each by the first half of its lanes, with the code that runs it: one probe a version,
-- however many jobs are bound to it. Workers ask each second.
create function {schema}.pinned_lanes() returns table (lane uuid, job_type text, code text)
language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
    return query
    with recursive step as (
        (select p.lane, p.job_type, p.version from {schema}.pin p order by p.lane limit 1)
        union all
        select f.lane, f.job_type, f.version from step s
         cross join lateral (select p.lane, p.job_type, p.version from {schema}.pin p where p.lane > s.lane order by p.lane limit 1) f
    )
    select s.lane, s.job_type, {schema}.version_code(s.job_type, s.version) from step s;
end
$$;

-- Pins of jobs that are gone: older than every partition of bodies, and not kept.
create function {schema}.sweep_pins(p_most integer) returns void
language plpgsql volatile as $$
declare
    oldest timestamptz := (select min(x.since) from {schema}.partition x where x.parent = 'job');
begin
    delete from {schema}.pin p where p.job_id = any (array(
        select i.job_id from {schema}.pin i
         where i.job_id < {schema}.id_at(oldest) and not exists (select from {schema}.job_kept k where k.id = i.job_id)
         order by i.job_id limit p_most for update skip locked));
end
$$;

-- The newest versions of a definition, each with how many live workers run its code: the platform's to see.
create function {schema}.read_version_workers(p_key text, p_most integer default 11)
returns table (version integer, workers bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select v.version, {schema}.code_workers(p_key, case d.kind when 'command' then v.version::text
                                                               else nullif({schema}.version_code(p_key, v.version), '') end)
      from {schema}.job_definition d join {schema}.definition_version v on v.definition_id = d.id
     where d.key = p_key and d.kind <> 'http' order by v.version desc limit p_most;
end
$$;

select {schema}.secure_requests();
