-- postmill: safe
-- What is past its day goes: expired keys, answered requests. What has a retention: see 0039_retention.sql.

create function {schema}.has_history(p_id uuid, p_after timestamptz) returns boolean
language plpgsql stable as $$
begin
    return exists (select from {schema}.outcome o where o.job_id = p_id and o.finished_at >= p_after)
        or exists (select from {schema}.attempt a where a.job_id = p_id and a.finished_at >= p_after);
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
         -- One whose ticket somebody's open transaction holds was asked for all the same, however long that lasts.
         or c.requested_at < moment - interval '1 day'
        and not exists (select from {schema}.ready t where t.id = c.job_id)
        and not exists (select from {schema}.scheduled t where t.id = c.job_id)
        and not exists (select from {schema}.blocked t where t.id = c.job_id));
    perform {schema}.sweep_tags(p_most);
    perform {schema}.sweep_pins(p_most);
    perform {schema}.sweep_refused_types();
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
