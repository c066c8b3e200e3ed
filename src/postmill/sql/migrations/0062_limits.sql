-- postmill: safe
-- Limits as people handle them: what there is, what is used of it now, and what an operator says.

-- The limits that a job is under, with what is used of them now (at most 10,000 are counted), and for how long a rate lets
-- nothing start (0: it does). Whose jobs hold the seats is the platform's to see.
create function {schema}.limits_of(p_id uuid, p_queue text, p_job_type text, p_tenant uuid)
returns table (name text, max_running integer, running bigint, rate_count integer, rate_seconds double precision,
    rate_wait double precision, held_by uuid[])
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
    body jsonb;
begin
    select b.payload into body from {schema}.any_job b where b.id = p_id;
    return query
    select coalesce(r.name, 'tenant:' || n.slug), o.max_running, h.n, o.rate_count, o.rate_seconds,
           greatest(0, extract(epoch from (select a.tat from {schema}.rate_take a where a.key = k.key order by a.seq desc limit 1)
                               - moment) - (o.rate_burst - 1) * o.rate_seconds / o.rate_count)::double precision,
           case when {schema}.sees_all() then h.ids end
      from {schema}.limits_on(p_queue, {schema}.type_key(p_job_type), p_tenant) o
      left join {schema}.limit_rule r on r.id = o.limit_id
      left join {schema}.tenant n on n.id = p_tenant
     cross join lateral (select {schema}.limit_key(o.key, o.per, p_tenant, body) as key) k
     cross join lateral (select count(*) as n, (array_agg(x.job_id order by x.seat_no))[:3] as ids
                           from (select e.job_id, e.seat_no from {schema}.seat e
                                  where e.key = k.key and o.max_running is not null limit 10000) x) h
     where o.max_running is not null or o.rate_count is not null;
end
$$;

-- A rule as the audit log and its readers have it.
create function {schema}.limit_json(p_name text) returns jsonb
language plpgsql stable as $$
begin
    return (select jsonb_strip_nulls(jsonb_build_object('max_running', l.max_running, 'rate', case when l.rate_count is not null
                   then jsonb_build_object('count', l.rate_count, 'seconds', l.rate_seconds, 'burst', l.rate_burst) end))
              from {schema}.limit_rule l where l.name = p_name);
end
$$;

-- Rules by name, and the caps of tenants; the platform sees all, a tenant what is on it alone. running: jobs that hold seats
-- of it now; keys: how many different things these are; at_cap: how many of them are full. wait_seconds: where all are
-- counted together, for how long its rate lets nothing start.
create function {schema}.read_limit_rules(p_name text default null, p_after text default '', p_most integer default 1000)
returns table (name text, queue text, job_type text, tenant_id uuid, tenant text, per text[], max_running integer, rate_count integer,
    rate_seconds double precision, rate_burst integer, declared text, edited boolean, running bigint, keys bigint, at_cap bigint,
    wait_seconds double precision)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
begin
    return query
    with rules as materialized (
        select r.id, r.key, r.name, r.queue, r.job_type, r.tenant_id, r.per, r.max_running, r.rate_count, r.rate_seconds, r.rate_burst,
               r.declared::text as declared, r.edited
          from {schema}.limit_rule r where {schema}.sees_all() or r.tenant_id = {schema}.scope_tenant()
        union all
        select 0, t.id, 'tenant:' || t.slug, null, null, t.id, '{}', {schema}.tenant_cap(t.status, t.max_running, t.raised_to, t.raised_until),
               null, null, null, null, true
          from {schema}.tenant t
         where (t.max_running is not null or t.raised_to is not null or t.status <> 'active') and {schema}.in_scope(t.id)
    ), page as materialized (
        select distinct on (r.name) r.* from (
            select x.id, x.key, x.name, x.queue, x.job_type, x.tenant_id, x.per,
                   coalesce(x.max_running, max(x.max_running) over same) as max_running,
                   coalesce(x.rate_count, max(x.rate_count) over same) as rate_count,
                   coalesce(x.rate_seconds, max(x.rate_seconds) over same) as rate_seconds,
                   coalesce(x.rate_burst, max(x.rate_burst) over same) as rate_burst, x.declared, x.edited
              from rules x
             where (p_name is null or x.name = p_name) and x.name > p_after
            window same as (partition by x.name)) r
         order by r.name, r.id limit p_most
    ), used as materialized (
        select e.limit_id, e.key, count(*) as n from {schema}.seat e group by 1, 2
    )
    select p.name, p.queue, p.job_type, p.tenant_id, t.slug, p.per, p.max_running, p.rate_count, p.rate_seconds, p.rate_burst, p.declared,
           p.edited, coalesce(u.n, 0)::bigint, coalesce(u.keys, 0), coalesce(u.full_ones, 0),
           case when p.rate_count is not null and p.per = '{}' then greatest(0, coalesce(extract(epoch from (
                    select a.tat from {schema}.rate_take a where a.key = coalesce(o.key, p.key) order by a.seq desc limit 1) - moment)
                    - (p.rate_burst - 1) * p.rate_seconds / p.rate_count, 0))::double precision end
      from page p
      left join {schema}.tenant t on t.id = p.tenant_id
      left join {schema}.limit_rule o on o.name = p.name
      left join lateral (select sum(w.n) as n, count(*) as keys, count(*) filter (where w.n >= p.max_running) as full_ones
                           from used w where w.limit_id = p.id and (p.id <> 0 or w.key = p.key)) u on true
     order by p.name;
end
$$;

-- What a limit counts now, each for itself, the fullest first: what its parts are worth in one of the jobs, and that job.
create function {schema}.read_limit_keys(p_name text, p_most integer default 20)
returns table (parts text[], running bigint, job_id uuid)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select array(select case when e.part = 'tenant' then coalesce(n.slug, j.tenant_id::text)
                             else j.payload #>> string_to_array(substr(e.part, 9), '.') end
                   from unnest(f.per) with ordinality as e(part, i) order by e.i),
           f.n, f.job_id
      from (select r.per, s.key, count(*) as n, (array_agg(s.job_id order by s.seat_no))[1] as job_id
              from {schema}.limit_rule r join {schema}.seat s on s.limit_id = r.id
             where r.name = p_name and ({schema}.sees_all() or r.tenant_id = {schema}.scope_tenant())
             group by r.per, s.key order by n desc, job_id limit p_most) f
     cross join lateral (select b.tenant_id, b.payload from {schema}.any_job b where b.id = f.job_id offset 0) j
      left join {schema}.tenant n on n.id = j.tenant_id
     order by f.n desc, f.job_id;
end
$$;

-- What an operator says: from now on this limit is so, whatever code and settings declare; neither max_running nor rate: there
-- is none. A tenant's own cap is a setting of the tenant, and is written there. created | changed | unchanged | unknown_queue |
-- unknown_type | unknown_tenant | encrypted (what is counted is in payloads that nobody can read) | out_of_scope.
create function {schema}.door_set_limit(p_scope text, p_target text, p_per text[], p_max_running integer, p_rate jsonb,
    p_reason text default null, p_actor_type text default null, p_actor_id text default null, out status text, out name text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    tenant uuid := case when p_scope = 'tenant' then (select t.id from {schema}.tenant t where t.slug = p_target) end;
    before jsonb;
    told text;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    name := {schema}.limit_name(p_scope, p_target, p_per);
    status := case
        when not {schema}.sees_all() then 'out_of_scope'
        when p_scope = 'queue' and not exists (select from {schema}.queue q where q.name = p_target) then 'unknown_queue'
        when p_scope = 'type' and not exists (select from {schema}.job_definition d where d.key = p_target) then 'unknown_type'
        when p_scope = 'tenant' and tenant is null then 'unknown_tenant'
        when exists (select from unnest(p_per) as u(part) where u.part like 'payload.%')
             and exists (select from {schema}.job_definition d where d.encrypted and (p_scope = 'type' and d.key = p_target
                            or p_scope = 'queue' and d.queue = p_target or p_scope in ('tenant', 'all'))) then 'encrypted' end;
    if status is not null then
        return;
    end if;
    if tenant is not null and p_per = '{}' then
        told := {schema}.door_change_tenant(tenant, jsonb_build_object('max_running', p_max_running), p_reason);
        p_max_running := null;
        if p_rate is null and not exists (select from {schema}.limit_rule l where l.name = door_set_limit.name) then
            status := told;
            return;
        end if;
    end if;
    before := {schema}.limit_json(name);
    insert into {schema}.limit_rule as l (name, key, queue, job_type, tenant_id, per, max_running, rate_count, rate_seconds, rate_burst,
           edited)
    values (name, md5(name)::uuid, case p_scope when 'queue' then p_target end, case p_scope when 'type' then p_target end, tenant,
            p_per, p_max_running, (p_rate ->> 'count')::integer, (p_rate ->> 'seconds')::double precision,
            coalesce((p_rate ->> 'burst')::integer, (p_rate ->> 'count')::integer), true)
    on conflict on constraint limit_rule_name_key do update set max_running = excluded.max_running, rate_count = excluded.rate_count,
        rate_seconds = excluded.rate_seconds, rate_burst = excluded.rate_burst, edited = true, updated_at = {schema}.now();
    status := case when before is null then 'created' when before = {schema}.limit_json(name) then 'unchanged' else 'changed' end;
    if status <> 'unchanged' then
        perform {schema}.audit('limits.set', 'limit', name, tenant, before, {schema}.limit_json(name), p_reason);
    elsif told = 'changed' then
        status := told;
    end if;
    perform {schema}.settle_limits();
    perform {schema}.tell('%*');
end
$$;

-- Takes back what an operator said: declared (what code or settings say is in force again) | cleared | unknown.
create function {schema}.door_clear_limit(p_name text, p_reason text default null, p_actor_type text default null,
    p_actor_id text default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    rule {schema}.limit_rule;
    capped uuid;
    before jsonb;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    if not {schema}.sees_all() then
        return 'unknown';
    end if;
    select t.id into capped from {schema}.tenant t where 'tenant:' || t.slug = p_name and t.max_running is not null;
    if capped is not null then
        perform {schema}.door_change_tenant(capped, '{"max_running": null}', p_reason);
    end if;
    select l.* into rule from {schema}.limit_rule l where l.name = p_name for update;
    if rule.id is null then
        return case when capped is null then 'unknown' else 'cleared' end;
    end if;
    before := {schema}.limit_json(p_name);
    if rule.declared is null then
        delete from {schema}.limit_rule l where l.id = rule.id;
    else
        update {schema}.limit_rule l set edited = false where l.id = rule.id;
        perform {schema}.follow_declared(p_name);
    end if;
    perform {schema}.audit('limits.clear', 'limit', p_name, rule.tenant_id, before, {schema}.limit_json(p_name), p_reason);
    perform {schema}.settle_limits();
    perform {schema}.tell('%*');
    return case when rule.declared is null then 'cleared' else 'declared' end;
end
$$;

-- What a tenant may have at once is in force from one moment to the next, whoever writes it.
create function {schema}.tenant_changed() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform {schema}.settle_limits();
    perform {schema}.tell('%*');
    return null;
end
$$;
create trigger limited after insert on {schema}.tenant for each row
    when (new.max_running is not null or new.raised_to is not null or new.status <> 'active' or new.weight <> 1)
    execute function {schema}.tenant_changed();
create trigger limits_changed after update on {schema}.tenant for each row
    when ((new.max_running, new.raised_to, new.raised_until, new.status, new.weight)
          is distinct from (old.max_running, old.raised_to, old.raised_until, old.status, old.weight))
    execute function {schema}.tenant_changed();

select {schema}.secure_requests();
