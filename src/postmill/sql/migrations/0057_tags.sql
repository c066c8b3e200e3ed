-- postmill: safe
-- Tags: short words by which people find jobs again, given at the enqueue or later. A job without any has no row here, and
-- where none are asked for nothing looks here.

create table {schema}.job_tag (
    job_id uuid not null,
    tag text collate "C" not null,
    tenant_id uuid not null,
    primary key (job_id, tag)
);
create index job_tag_tag on {schema}.job_tag (tag, job_id);
create index job_tag_tenant on {schema}.job_tag (tenant_id, tag, job_id);

-- What is wrong with the tags of a job, as fault_of; the rule of domain/tags.py. In queries a comma, a blank and a quote end a
-- word, and in acts a minus before a tag takes it away.
create function {schema}.fault_of_tags(p_tags jsonb) returns text
language plpgsql immutable parallel safe as $$
declare
    odd jsonb;
begin
    if jsonb_typeof(p_tags) <> 'array' then
        return 'tags: must be a list of words';
    elsif jsonb_array_length(p_tags) > 8 then
        return 'tags: has ' || jsonb_array_length(p_tags) || '; 8 are allowed';
    end if;
    select t.value into odd from jsonb_array_elements(p_tags) as t(value)
     where jsonb_typeof(t.value) <> 'string' or t.value #>> '{}' !~ '^[^-[:space:][:cntrl:],"][^[:space:][:cntrl:],"]{0,39}$' limit 1;
    return 'tags: ' || left(odd::text, 60)
        || ' is no tag: 1 to 40 characters without blanks, commas and quotes, and no minus at the beginning';
end
$$;

-- The tags of a job that was just made, or of one that runs it again.
create function {schema}.keep_tags(p_id uuid, p_tenant uuid, p_tags jsonb) returns void
language plpgsql volatile as $$
begin
    insert into {schema}.job_tag (job_id, tag, tenant_id)
    select p_id, t.value, coalesce(p_tenant, '00000000-0000-0000-0000-000000000001') from jsonb_array_elements_text(p_tags) as t(value)
    on conflict do nothing;
end
$$;

create function {schema}.tags_of(p_id uuid) returns text[]
language plpgsql stable as $$
begin
    return array(select t.tag from {schema}.job_tag t where t.job_id = p_id order by t.tag);
end
$$;

-- Tags for jobs in whatever state, and others taken away: changed | unchanged | full (it would have more than 8) | unknown.
create function {schema}.door_tag_jobs(p_ids uuid[], p_add text[], p_remove text[], p_reason text default null,
    p_actor_type text default null, p_actor_id text default null)
returns table (id uuid, status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    fault text := {schema}.fault_of_tags(to_jsonb(coalesce(p_add, '{}')));
    owner uuid;
    before text[];
    wanted text[];
begin
    if fault is not null then
        raise exception 'postmill: %', fault using errcode = 'invalid_parameter_value';
    end if;
    perform {schema}.act_as(p_actor_type, p_actor_id);
    for id in select distinct u.id from unnest(p_ids) as u(id) order by 1 loop
        select b.tenant_id into owner from {schema}.any_job b where b.id = door_tag_jobs.id;
        if not found or not {schema}.in_scope(owner) then
            status := 'unknown';
            return next;
            continue;
        end if;
        -- Two who tag one job at once come one after the other, or it had more than it may.
        perform pg_advisory_xact_lock(hashtextextended('{schema}.tag:' || id::text, 0));
        before := {schema}.tags_of(id);
        wanted := array(select w.tag from (select unnest(before) except select unnest(p_remove) union select unnest(p_add)) as w(tag)
                         order by w.tag collate "C");
        status := case when wanted = before then 'unchanged' when cardinality(wanted) > 8 then 'full' else 'changed' end;
        if status = 'changed' then
            delete from {schema}.job_tag t where t.job_id = door_tag_jobs.id and t.tag <> all (wanted);
            perform {schema}.keep_tags(id, owner, to_jsonb(wanted));
            perform {schema}.audit('jobs.tag', 'job', id::text, owner, jsonb_build_object('tags', before),
                                   jsonb_build_object('tags', wanted), p_reason);
        end if;
        return next;
    end loop;
end
$$;

-- Those of jobs that are gone: older than every partition of bodies, also those that wait for the archive, and not kept.
create function {schema}.sweep_tags(p_most integer) returns void
language plpgsql volatile as $$
declare
    oldest timestamptz := least((select min(x.since) from {schema}.partition x where x.parent = 'job'),
        (select min(u.since) from {schema}.archive_unit u where u.status = 'waiting' and u.source = 'job' and u.relation is not null));
begin
    delete from {schema}.job_tag t where t.ctid = any (array(
        select i.ctid from {schema}.job_tag i
         where i.job_id < {schema}.id_at(oldest) and not exists (select from {schema}.job_kept k where k.id = i.job_id)
         order by i.job_id limit p_most for update skip locked));
end
$$;

-- The tags of the scope that hold a text, those that begin with it first: one probe a tag, however many jobs have it.
create function {schema}.read_tags(p_text text, p_most integer default 12) returns setof text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
    own constant uuid := {schema}.scope_tenant();
    known text[] := '{}';
    following text := '';
begin
    for n in 1 .. 1000 loop
        if own is null then
            select t.tag into following from {schema}.job_tag t where t.tag > following order by t.tag limit 1;
        else
            select t.tag into following from {schema}.job_tag t where t.tenant_id = own and t.tag > following order by t.tag limit 1;
        end if;
        exit when not found;
        known := known || following;
    end loop;
    return query
    select k.tag from unnest(known) as k(tag) where strpos(lower(k.tag), lower(p_text)) > 0
     order by left(lower(k.tag), length(p_text)) <> lower(p_text), k.tag limit p_most;
end
$$;

select {schema}.secure_requests();
