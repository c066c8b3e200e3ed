-- postmill: safe
-- Artifacts: files that jobs read or made. The file is in a store of files, under the artifact's id; what is here makes it
-- visible. A row is written when its file is whole, and the file goes before the row, so no row is ever without its file.

-- An artifact never changes: what replaces it is another one. job_id NULL: nobody made it, a job is to read it.
-- gone_at: nobody sees it any more; its file is cleared away by the next round of upkeep, or was tried to be then.
create table {schema}.artifact (
    id uuid primary key,
    tenant_id uuid not null,
    job_id uuid,
    name text collate "C" not null,
    content_type text collate "C" not null,
    size bigint not null check (size >= 0),
    sha256 bytea not null check (length(sha256) = 32),
    attempt integer,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    gone_at timestamptz
);
create unique index artifact_name on {schema}.artifact (job_id, name) where gone_at is null;
create index artifact_tenant on {schema}.artifact (tenant_id, id);
create index artifact_expires on {schema}.artifact (expires_at) where gone_at is null;
create index artifact_gone on {schema}.artifact (gone_at) where gone_at is not null;

insert into {schema}.upkeep (name) values ('artifacts');

-- Those that have expired, too, until they are cleared away.
create view {schema}.artifacts as
select a.id, a.tenant_id, a.job_id, a.name, a.content_type, a.size, encode(a.sha256, 'hex') as sha256, a.attempt,
       a.created_at, a.expires_at
  from {schema}.artifact a
 where a.gone_at is null;

-- May an artifact be put, and under which id? open | over (the claim holds no more) | full | unknown_tenant. A job has at
-- most 1,000. p_job NULL: one that a job is to read.
create function {schema}.begin_artifact(p_tenant uuid, p_job uuid, p_holder uuid, p_claim_no bigint, out status text, out id uuid)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if p_job is null then
        status := case when {schema}.in_scope(p_tenant) and exists (select from {schema}.tenant t where t.id = p_tenant)
                       then 'open' else 'unknown_tenant' end;
    elsif not exists (select from {schema}.running r where r.id = p_job and r.holder = p_holder and r.claim_no = p_claim_no) then
        status := 'over';
    else
        status := case when (select count(*) from (select from {schema}.artifact a where a.job_id = p_job and a.gone_at is null
                                                    limit 1000) counted) < 1000 then 'open' else 'full' end;
    end if;
    if status = 'open' then
        id := {schema}.new_id();
    end if;
end
$$;

-- The file is whole: makes it visible, in the place of the job's artifact of the same name. kept | over | unknown_tenant.
-- A ticket that is locked is being ended; p_waits: wait until it is known how. A worker does not: the lock may be the
-- handler's own, in a transaction of which it is in the middle.
create function {schema}.keep_artifact(p_id uuid, p_tenant uuid, p_job uuid, p_holder uuid, p_claim_no bigint, p_waits boolean,
    p_name text, p_content_type text, p_size bigint, p_sha256 bytea, p_seconds double precision,
    out status text, out attempt integer, out created_at timestamptz, out expires_at timestamptz)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if p_job is null then
        if not {schema}.in_scope(p_tenant) or not exists (select from {schema}.tenant t where t.id = p_tenant) then
            status := 'unknown_tenant';
            return;
        end if;
    else
        if p_waits then
            select r.attempt into attempt from {schema}.running r
             where r.id = p_job and r.holder = p_holder and r.claim_no = p_claim_no for share;
        else
            select r.attempt into attempt from {schema}.running r
             where r.id = p_job and r.holder = p_holder and r.claim_no = p_claim_no for share skip locked;
        end if;
        if not found then
            status := 'over';
            return;
        end if;
    end if;
    created_at := {schema}.now();
    expires_at := created_at + p_seconds * interval '1 second';
    -- Of two puts of one name at once the later one stays: its insert waits for the other, and then replaces it.
    loop
        update {schema}.artifact a set gone_at = {schema}.now() where a.job_id = p_job and a.name = p_name and a.gone_at is null;
        insert into {schema}.artifact (id, tenant_id, job_id, name, content_type, size, sha256, attempt, created_at, expires_at)
        values (p_id, p_tenant, p_job, p_name, p_content_type, p_size, p_sha256, keep_artifact.attempt, keep_artifact.created_at,
                keep_artifact.expires_at)
        on conflict (job_id, name) where gone_at is null do nothing;
        exit when found;
    end loop;
    status := 'kept';
    if p_job is null then
        perform {schema}.audit('artifacts.put', 'artifact', p_id::text, p_tenant, null, jsonb_build_object('name', p_name,
            'content_type', p_content_type, 'size', p_size, 'sha256', encode(p_sha256, 'hex'), 'expires_at', expires_at));
    end if;
end
$$;

-- Within the scope. Of one that has expired only that: gone. One that was replaced or deleted is not there.
create function {schema}.read_artifact(p_id uuid)
returns table (id uuid, tenant_id uuid, job_id uuid, name text, content_type text, size bigint, sha256 bytea, attempt integer,
    created_at timestamptz, expires_at timestamptz, expired boolean)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select a.id, a.tenant_id, a.job_id, a.name, a.content_type, a.size, a.sha256, a.attempt, a.created_at, a.expires_at,
           a.expires_at <= (select {schema}.now())
      from {schema}.artifact a
     where a.id = p_id and (a.gone_at is null or a.expires_at <= (select {schema}.now()));
end
$$;

-- A job's, by name; p_job NULL: those that no job made, which have no order of names. p_after: name and id.
create function {schema}.read_artifacts(p_job uuid, p_after text, p_after_id uuid, p_most integer)
returns table (id uuid, tenant_id uuid, job_id uuid, name text, content_type text, size bigint, sha256 bytea, attempt integer,
    created_at timestamptz, expires_at timestamptz, expired boolean)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select a.id, a.tenant_id, a.job_id, a.name, a.content_type, a.size, a.sha256, a.attempt, a.created_at, a.expires_at, false
      from {schema}.artifact a
     where a.job_id is not distinct from p_job and a.gone_at is null and a.expires_at > (select {schema}.now())
       and (p_after is null or (a.name, a.id) > (p_after, p_after_id))
     order by a.name, a.id limit p_most;
end
$$;

-- deleted | unknown. Nobody sees it any more; its file goes with the next round of upkeep.
create function {schema}.door_delete_artifact(p_id uuid, p_reason text default null, p_actor_type text default null,
    p_actor_id text default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    old {schema}.artifact;
begin
    update {schema}.artifact a set gone_at = {schema}.now()
     where a.id = p_id and a.gone_at is null and {schema}.in_scope(a.tenant_id) returning a.* into old;
    if not found then
        return 'unknown';
    end if;
    perform {schema}.act_as(p_actor_type, p_actor_id);
    perform {schema}.audit('artifacts.delete', 'artifact', p_id::text, old.tenant_id,
                           jsonb_build_object('job_id', old.job_id, 'name', old.name, 'content_type', old.content_type,
                                              'size', old.size, 'sha256', encode(old.sha256, 'hex')), null, p_reason);
    return 'deleted';
end
$$;

-- The tenant whose job this is, where an HTTP worker of the scope holds it under a live lease.
create function {schema}.held_tenant(p_job uuid, p_holder uuid, p_claim_no bigint) returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    return (select c.tenant_id from {schema}.http_claim c
             where c.job_id = p_job and c.claim_no = p_claim_no and c.holder = p_holder and c.ended_at is null
               and c.expires_at > (select {schema}.now()) and {schema}.in_scope(c.tenant_id));
end
$$;

-- As begin_artifact, for HTTP workers; unknown: there is no such job in scope.
create function {schema}.door_begin_artifact(p_job uuid, p_holder uuid, p_claim_no bigint, out status text, out id uuid,
    out tenant_id uuid)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    tenant_id := {schema}.held_tenant(p_job, p_holder, p_claim_no);
    if tenant_id is not null then
        select b.status, b.id into status, id from {schema}.begin_artifact(tenant_id, p_job, p_holder, p_claim_no) b;
    else
        status := case when {schema}.ids_in_scope(array[p_job]) = '{}' or not exists (
                            select from {schema}.any_job j where j.id = p_job) then 'unknown' else 'over' end;
    end if;
end
$$;

-- As keep_artifact, for HTTP workers.
create function {schema}.door_keep_artifact(p_id uuid, p_job uuid, p_holder uuid, p_claim_no bigint, p_name text,
    p_content_type text, p_size bigint, p_sha256 bytea, p_seconds double precision,
    out status text, out attempt integer, out created_at timestamptz, out expires_at timestamptz)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    whose uuid := {schema}.held_tenant(p_job, p_holder, p_claim_no);
begin
    if whose is null then
        status := 'over';
        return;
    end if;
    select k.status, k.attempt, k.created_at, k.expires_at into status, attempt, created_at, expires_at
      from {schema}.keep_artifact(p_id, whose, p_job, p_holder, p_claim_no, true, p_name, p_content_type, p_size, p_sha256,
                                  p_seconds) k;
end
$$;

-- What an HTTP worker may read for the job that it holds: artifacts of the job's tenant. over: it holds the job no more.
create function {schema}.door_held_artifact(p_job uuid, p_holder uuid, p_claim_no bigint, p_id uuid, out status text, out artifact jsonb)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    whose uuid := {schema}.held_tenant(p_job, p_holder, p_claim_no);
begin
    if whose is null then
        select b.status into status from {schema}.door_begin_artifact(p_job, p_holder, p_claim_no) b;
        return;
    end if;
    select 'found', to_jsonb(a) - 'gone_at' || jsonb_build_object('sha256', encode(a.sha256, 'hex'),
               'expired', a.expires_at <= (select {schema}.now()))
      into status, artifact
      from {schema}.artifact a
     where a.id = p_id and a.tenant_id = whose and (a.gone_at is null or a.expires_at <= (select {schema}.now()));
    status := coalesce(status, 'unknown');
end
$$;

-- Up to p_most whose files are to be cleared away: replaced and deleted ones, expired ones, and those of pruned jobs. What
-- could not be cleared away the last time comes last.
create function {schema}.take_gone_artifacts(p_most integer) returns table (id uuid, tenant_id uuid)
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
    edge uuid;
begin
    select {schema}.id_at(min(x.since)) into edge from {schema}.partition x where x.parent = 'job';
    update {schema}.artifact a set gone_at = moment where a.ctid = any (array(
        select e.ctid from {schema}.artifact e where e.gone_at is null and e.expires_at <= moment
         order by e.expires_at limit p_most for update skip locked));
    update {schema}.artifact a set gone_at = moment where a.ctid = any (array(
        select o.ctid from {schema}.artifact o where o.gone_at is null and o.job_id < edge
           and not exists (select from {schema}.job_kept k where k.id = o.job_id)
         order by o.job_id limit p_most for update skip locked));
    return query
    update {schema}.artifact a set gone_at = moment where a.ctid = any (array(
        select g.ctid from {schema}.artifact g where g.gone_at is not null order by g.gone_at limit p_most for update skip locked))
    returning a.id, a.tenant_id;
end
$$;
