-- postmill: safe
-- What is past its retention goes: whole partitions, expired keys, answered requests.

create function {schema}.has_history(p_id uuid, p_after timestamptz) returns boolean
language plpgsql stable as $$
begin
    return exists (select from {schema}.outcome o where o.job_id = p_id and o.finished_at >= p_after)
        or exists (select from {schema}.attempt a where a.job_id = p_id and a.finished_at >= p_after);
end
$$;

-- Copies to job_kept the bodies of one partition that are still needed: a ticket waits, or history that stays
-- speaks of them. Probes the (small) ticket tables by id range, never the bodies one by one.
create function {schema}.keep_survivors(p_name text, p_low uuid, p_high uuid, p_after timestamptz) returns bigint
language plpgsql volatile as $$
declare
    kept bigint;
begin
    execute format($q$
        insert into {schema}.job_kept
        select j.* from {schema}.%I j join (
            select id from {schema}.ready where id >= $1 and id < $2
            union select id from {schema}.scheduled where id >= $1 and id < $2
            union select id from {schema}.blocked where id >= $1 and id < $2
            union select id from {schema}.running where id >= $1 and id < $2
            union select id from {schema}.dead_letter where id >= $1 and id < $2
            union select job_id from {schema}.outcome where finished_at >= $3 and job_id >= $1 and job_id < $2
            union select job_id from {schema}.attempt where finished_at >= $3 and job_id >= $1 and job_id < $2
        ) t on t.id = j.id
        on conflict do nothing$q$, p_name) using p_low, p_high, p_after;
    get diagnostics kept = row_count;
    return kept;
end
$$;

-- Drops one expired partition: dropped | busy (somebody holds the table; try again) | none.
-- Survivors are copied before the lock and once more under it. Bodies go before the history that speaks of them.
create function {schema}.prune_partition()
returns table (name text, status text, kept bigint)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
    edge timestamptz;
    old {schema}.partition;
    before text := current_setting('lock_timeout');
begin
    select moment - p.retention into edge from {schema}.partition_policy p;
    select x.* into old from {schema}.partition x where x.until < edge
     order by x.until, x.parent = 'job' desc, x.parent limit 1;
    if not found then
        return;
    end if;
    name := old.name;
    kept := 0;
    if old.parent = 'job' then
        kept := {schema}.keep_survivors(old.name, {schema}.id_at(old.since), {schema}.id_at(old.until), old.until);
    end if;
    perform set_config('lock_timeout', '50ms', true);
    begin
        execute format('lock table {schema}.%I in access exclusive mode', old.parent);
        if old.parent = 'job' then
            kept := kept + {schema}.keep_survivors(old.name, {schema}.id_at(old.since), {schema}.id_at(old.until), old.until);
        end if;
        execute format('drop table {schema}.%I', old.name);
        delete from {schema}.partition x where x.name = old.name;
        status := 'dropped';
    exception when lock_not_available then
        status := 'busy';
    end;
    perform set_config('lock_timeout', before, true);
    return next;
end
$$;

-- Kept bodies that nothing needs any more, at most p_most.
create function {schema}.prune_kept(p_most integer) returns bigint
language plpgsql volatile as $$
declare
    gone bigint;
begin
    with spent as (
        select k.id from {schema}.job_kept k
         where not exists (select from {schema}.outcome o where o.job_id = k.id)
           and not exists (select from {schema}.attempt a where a.job_id = k.id)
           and not exists (select from {schema}.ready t where t.id = k.id)
           and not exists (select from {schema}.scheduled t where t.id = k.id)
           and not exists (select from {schema}.blocked t where t.id = k.id)
           and not exists (select from {schema}.running t where t.id = k.id)
           and not exists (select from {schema}.dead_letter t where t.id = k.id)
         order by k.id limit p_most for update skip locked
    )
    delete from {schema}.job_kept k using spent s where k.id = s.id;
    get diagnostics gone = row_count;
    return gone;
end
$$;

-- Expired keys, answered cancel requests, old counts.
create function {schema}.sweep(p_most integer) returns void
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
    asked {schema}.cancel_request;
begin
    delete from {schema}.idempotency_key k where k.ctid = any (array(
        select i.ctid from {schema}.idempotency_key i where i.expires_at < moment limit p_most for update skip locked));
    for asked in
        select c.* from {schema}.cancel_request c
         where exists (select from {schema}.ready t where t.id = c.job_id)
            or exists (select from {schema}.scheduled t where t.id = c.job_id)
            or exists (select from {schema}.blocked t where t.id = c.job_id)
    loop
        perform {schema}.cancel_jobs(array[asked.job_id], asked.actor_type, asked.actor_id, asked.reason);
    end loop;
    delete from {schema}.cancel_request c
     where not exists (select from {schema}.running r where r.id = c.job_id)
       and (exists (select from {schema}.outcome o where o.job_id = c.job_id)
         or exists (select from {schema}.dead_letter d where d.id = c.job_id)
         or c.requested_at < moment - interval '1 day');
    delete from {schema}.progress g where not exists (select from {schema}.running r where r.id = g.job_id);
    delete from {schema}.tally t using {schema}.partition_policy p where t.at < moment - p.retention;
end
$$;

-- Keys without an expiry go a day after they were last seen, once their job has ended. A walk along the primary key,
-- p_most rows a round, so that no round takes long however many keys there are. Answers where it stopped; no row: the
-- walk is over and begins anew.
create function {schema}.sweep_keys(p_tenant uuid, p_project uuid, p_key text, p_most integer)
returns table (tenant_id uuid, project_id uuid, key text)
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
begin
    return query
    with walked as materialized (
        select k.tenant_id, k.project_id, k.key, k.job_id, k.expires_at, k.last_seen_at
          from {schema}.idempotency_key k
         where (k.tenant_id, k.project_id, k.key) > (coalesce(p_tenant, '00000000-0000-0000-0000-000000000000'),
                coalesce(p_project, '00000000-0000-0000-0000-000000000000'), coalesce(p_key, ''))
         order by k.tenant_id, k.project_id, k.key limit p_most
    ), gone as (
        delete from {schema}.idempotency_key k where k.ctid = any (array(
            select i.ctid from {schema}.idempotency_key i join walked w using (tenant_id, project_id, key)
             where i.expires_at is null and i.last_seen_at < moment - interval '1 day'
               and not {schema}.is_live(i.job_id)
               for update of i skip locked))
    )
    select w.tenant_id, w.project_id, w.key from walked w
     where (select count(*) from walked) >= p_most
     order by 1 desc, 2 desc, 3 desc limit 1;
end
$$;

-- Nobody but the owner runs these by default; grant_application opens the front door.
do $do$
declare
    f regprocedure;
begin
    for f in select p.oid::regprocedure from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = '{schema}' loop
        execute format('revoke execute on function %s from public', f);
    end loop;
end
$do$;

analyze {schema}.ready, {schema}.scheduled, {schema}.running, {schema}.job_definition, {schema}.lease, {schema}.queue;
