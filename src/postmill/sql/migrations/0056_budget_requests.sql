-- postmill: safe
-- Limits of budgets that hold until a moment, what tenants ask for, and what the page of budgets shows.

-- A limit of a period with limit_until goes back to limit_back then.
alter table {schema}.budget_period
    add column limit_until timestamptz,
    add column limit_back numeric check ((limit_back is null) = (limit_until is null));
create index budget_period_until on {schema}.budget_period (limit_until) where limit_until is not null;

-- The limit of one period alone, now or later, to its end or until a moment: changed | unchanged | unknown | over (the period has
-- ended) | no_period | past (that moment is over) | late (it is after the end of the period).
create function {schema}.door_limit_budget(p_id uuid, p_label text, p_limit numeric, p_reason text default null,
    p_actor_type text default null, p_actor_id text default null, p_until timestamptz default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    b {schema}.budget;
    p {schema}.budget_period;
    moment constant timestamptz := {schema}.now();
    spent numeric;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    select x.* into b from {schema}.budget x where x.id = p_id and {schema}.in_scope(x.tenant_id) for no key update;
    if not found then
        return 'unknown';
    end if;
    select x.* into p from {schema}.budget_period x where x.budget_id = p_id and x.label = p_label order by x.starts_at desc limit 1;
    if not found then
        p := {schema}.read_budget_period(p_id, case when p_label ~ '^\d{4}-\d\d$' then (p_label || '-15')::timestamp
            when p_label ~ '^\d{4}-\d\d-\d\d$' then p_label::timestamp + interval '12 hours' end at time zone
            coalesce(b.timezone, (select t.timezone from {schema}.tenant t where t.id = b.tenant_id), 'UTC'));
        if p.label is distinct from p_label or p.starts_at > moment + interval '2 years' then
            return 'no_period';
        elsif p.ends_at <= moment then
            return 'over';
        end if;
    elsif p.ends_at <= moment then
        return 'over';
    elsif p.limit_own and p.limit_amount = p_limit and p.limit_until is not distinct from p_until then
        return 'unchanged';
    end if;
    if p_until <= moment then
        return 'past';
    elsif p_until > p.ends_at then
        return 'late';
    end if;
    insert into {schema}.budget_period select p.* on conflict do nothing;
    update {schema}.budget_period x
       set limit_amount = p_limit, limit_own = true, limit_until = p_until,
           limit_back = case when p_until is not null then coalesce(x.limit_back, x.limit_amount) end
     where x.budget_id = p_id and x.starts_at = p.starts_at;
    select f.spent into spent from {schema}.read_budget_figures(p_id, moment) f where f.starts_at = p.starts_at and f.spent > 0;
    if found then
        perform {schema}.mark_alerts(p_id, p.starts_at, spent);
    end if;
    perform {schema}.audit('budgets.limit', 'budget', b.name, b.tenant_id,
        jsonb_strip_nulls(jsonb_build_object('period', p_label, 'limit_amount', p.limit_amount, 'until', p.limit_until)),
        jsonb_strip_nulls(jsonb_build_object('period', p_label, 'limit_amount', p_limit, 'until', p_until)), p_reason);
    return 'changed';
end
$$;

-- door_limit_budget by name, of the platform's budget or a tenant's own; NULL period: the present one.
create function {schema}.limit_budget(p_name text, p_limit numeric, p_reason text, p_period text default null,
    p_until timestamptz default null, p_tenant uuid default null, p_actor_type text default null, p_actor_id text default null)
returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    own constant uuid := {schema}.budget_named(p_name, p_tenant);
    label text := p_period;
begin
    if own is not null and label is null then
        select x.label into label from {schema}.read_budget_period(own, {schema}.now()) x;
    end if;
    return {schema}.door_limit_budget(own, label, p_limit, p_reason, p_actor_type, p_actor_id, p_until);
end
$$;

-- door_correct_budget by name, of the platform's budget or a tenant's own; NULL period: the present one, which there always is.
create function {schema}.correct_budget(p_name text, p_amount numeric, p_reason text, p_period text default null,
    p_tokens_in bigint default 0, p_tokens_out bigint default 0, p_tenant uuid default null, p_actor_type text default null,
    p_actor_id text default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    own constant uuid := {schema}.budget_named(p_name, p_tenant);
    present text;
begin
    if own is null then
        return 'unknown';
    end if;
    select x.label into present from {schema}.read_budget_period(own, {schema}.now()) x;
    return (select c.status from {schema}.door_correct_budget(own, nullif(p_period, present), p_amount, p_tokens_in, p_tokens_out,
                p_reason, p_actor_type, p_actor_id) c);
end
$$;

-- The id of exactly this one. NULL: there is none.
create function {schema}.budget_named(p_name text, p_tenant uuid) returns uuid
language plpgsql stable as $$
begin
    return (select b.id from {schema}.budget b where lower(replace(b.name, '_', '-')) = lower(replace(p_name, '_', '-'))
               and b.tenant_id is not distinct from p_tenant);
end
$$;

-- What was spent of a budget in a period (NULL: the present one), step by step; times of corrections are those of their
-- writing.
create function {schema}.read_budget_burn(p_id uuid, p_label text, p_step interval)
returns table (at timestamptz, amount numeric)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    start constant timestamptz := {schema}.read_budget_start(p_id, p_label);
begin
    return query
    select date_bin(p_step, l.at, start), sum(l.amount) from {schema}.budget_line l
     where l.budget_id = p_id and l.starts_at = start group by 1 order by 1;
end
$$;

-- Jobs that wait and are of types under a budget, of at most p_most tickets that are due and as many that are not yet.
create function {schema}.read_budget_waiting(p_id uuid, p_most integer)
returns table (job_type text, n bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    types text[];
    queues text[];
    own uuid;
begin
    select array_agg(d.key), array_agg(distinct d.queue), b.tenant_id into types, queues, own
      from {schema}.budget b
      join {schema}.job_definition d on lower(replace(d.budget, '_', '-')) = lower(replace(b.name, '_', '-'))
     where b.id = p_id group by b.tenant_id;
    return query
    select j.job_type, count(*)
      from ((select r.id from {schema}.ready r where r.queue = any (queues) limit p_most)
            union all (select s.id from {schema}.scheduled s where s.queue = any (queues) limit p_most)) w
     cross join lateral (select f.job_type, f.tenant_id from {schema}.any_job f where f.id = w.id offset 0) j
     where j.job_type = any (types) and (own is null or j.tenant_id = own)
     group by 1 order by 2 desc, 1;
end
$$;

-- Limits that are no money, with what is used of them now: of tenants (jobs at once), of types (jobs at once on each worker;
-- starts in a time). Of what runs at most 10,000 jobs are looked at.
create function {schema}.read_limits()
returns table (what text, name text, unit text, used numeric, limit_amount numeric, workers bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment constant timestamptz := {schema}.now();
begin
    return query
    with held as materialized (
        select j.tenant_id, j.job_type, count(*) as n
          from (select r.id from {schema}.running r limit 10000) x
         cross join lateral (select f.tenant_id, f.job_type from {schema}.any_job f where f.id = x.id offset 0) j
         group by 1, 2
    )
    select 'tenant', t.slug, 'jobs at once', coalesce((select sum(h.n) from held h where h.tenant_id = t.id), 0),
           t.max_running::numeric, null::bigint
      from (select n.* from {schema}.tenant n where n.max_running is not null order by n.slug limit 500) t
    union all
    select 'job type', d.key, 'jobs at once on a worker', coalesce((select sum(h.n) from held h where h.job_type = d.key), 0),
           d.worker_limit::numeric,
           case when {schema}.sees_all() then (
                select count(*) from {schema}.worker k join {schema}.lease e on e.holder = k.holder
                 where e.expires_at > moment and k.job_types && (array[d.key] || d.aliases)) end
      from {schema}.job_definition d where d.worker_limit is not null
    union all
    select 'job type', l.job_type, format('starts in %s s', l.rate_seconds),
           round(greatest(0, least(l.rate_burst, l.rate_burst * extract(epoch from (
                select k.tat from {schema}.rate_take k where k.key = l.key order by k.seq desc limit 1) - moment)
                / nullif(l.rate_burst * l.rate_seconds / l.rate_count, 0)))::numeric, 1), l.rate_burst::numeric, null
      from {schema}.limit_rule l where l.name = 'type:' || l.job_type and l.rate_count is not null
     order by 1 desc, 2, 3;
end
$$;

-- What is asked of the platform for a budget of one's own: another limit, for good or until a moment.
create table {schema}.budget_request (
    id uuid primary key default {schema}.new_id(),
    tenant_id uuid not null,
    budget_id uuid not null,
    limit_amount numeric not null check (limit_amount between 0 and 1000000000000),
    until timestamptz,
    reason text not null check (length(reason) between 1 and 2000),
    actor_type text collate "C" not null,
    actor_id text,
    created_at timestamptz not null default {schema}.now(),
    status text collate "C" not null default 'open' check (status in ('open', 'granted', 'declined')),
    decided_at timestamptz,
    decided_by text,
    answer text
);
create unique index budget_request_open on {schema}.budget_request (budget_id) where status = 'open';
create index budget_request_budget on {schema}.budget_request (budget_id, id);
create index budget_request_tenant on {schema}.budget_request (tenant_id, id);

-- Requests, the newest first; one budget's or all.
create function {schema}.read_budget_requests(p_budget uuid, p_status text, p_before uuid, p_most integer)
returns table (id uuid, budget_id uuid, budget text, unit text, tenant_id uuid, tenant_slug text, limit_amount numeric,
    until timestamptz, reason text, actor_type text, actor_id text, created_at timestamptz, status text, decided_at timestamptz,
    decided_by text, answer text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
    return query
    select r.id, r.budget_id, b.name, b.unit, r.tenant_id, t.slug, r.limit_amount, r.until, r.reason, r.actor_type, r.actor_id,
           r.created_at, r.status, r.decided_at, r.decided_by, r.answer
      from (select x.* from {schema}.budget_request x
             where (p_budget is null or x.budget_id = p_budget) and (p_status is null or x.status = p_status)
               and (p_before is null or x.id < p_before)
             order by x.id desc limit p_most) r
      join {schema}.budget b on b.id = r.budget_id
      join {schema}.tenant t on t.id = r.tenant_id
     order by r.id desc;
end
$$;

-- Asks for another limit: requested | unknown (no budget of one's own) | open (one is asked for already) | past (until is over).
create function {schema}.door_request_budget(p_budget uuid, p_limit numeric, p_until timestamptz, p_reason text,
    p_actor_type text default null, p_actor_id text default null, out id uuid, out status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    b {schema}.budget;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    select x.* into b from {schema}.budget x where x.id = p_budget and x.tenant_id is not null for no key update;
    if not found or not {schema}.in_scope(b.tenant_id) then
        status := 'unknown';
        return;
    elsif p_until <= {schema}.now() then
        status := 'past';
        return;
    end if;
    insert into {schema}.budget_request as r (tenant_id, budget_id, limit_amount, until, reason, actor_type, actor_id)
    values (b.tenant_id, b.id, p_limit, p_until, p_reason, {schema}.acting_type(), {schema}.acting_id())
    on conflict do nothing returning r.id into id;
    if id is null then
        status := 'open';
        return;
    end if;
    status := 'requested';
    perform {schema}.audit('budgets.request', 'budget', b.name, b.tenant_id, jsonb_build_object('limit_amount', b.limit_amount),
        jsonb_build_object('request', id, 'limit_amount', p_limit, 'until', p_until), p_reason);
end
$$;

-- Says what becomes of a request; to change the budget is another act. decided | unknown | over (it was decided before). Only
-- the platform does.
create function {schema}.door_decide_request(p_id uuid, p_grant boolean, p_answer text default null, p_actor_type text default null,
    p_actor_id text default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    r {schema}.budget_request;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    select x.* into r from {schema}.budget_request x where x.id = p_id for update;
    if not found or not {schema}.sees_all() then
        return 'unknown';
    elsif r.status <> 'open' then
        return 'over';
    end if;
    update {schema}.budget_request x
       set status = case when p_grant then 'granted' else 'declined' end, decided_at = {schema}.now(),
           decided_by = {schema}.acting_id(), answer = p_answer
     where x.id = p_id;
    perform {schema}.audit(case when p_grant then 'budgets.grant' else 'budgets.decline' end, 'budget',
        (select b.name from {schema}.budget b where b.id = r.budget_id), r.tenant_id, null,
        jsonb_build_object('request', p_id, 'limit_amount', r.limit_amount, 'until', r.until), p_answer);
    return 'decided';
end
$$;

-- Limits of a period that held until a moment: back to what they were. Answers how many.
create function {schema}.expire_budget_limits(p_most integer) returns integer
language plpgsql volatile as $$
declare
    moment constant timestamptz := {schema}.now();
    p record;
    done integer := 0;
begin
    for p in select x.budget_id, x.starts_at, x.label, x.limit_amount, x.limit_back, x.limit_until, b.name, b.tenant_id,
                    b.limit_amount as usual
               from {schema}.budget_period x join {schema}.budget b on b.id = x.budget_id
              where x.limit_until <= moment limit p_most for update of b, x skip locked loop
        update {schema}.budget_period x
           set limit_amount = p.limit_back, limit_own = p.limit_back <> p.usual, limit_until = null, limit_back = null
         where x.budget_id = p.budget_id and x.starts_at = p.starts_at;
        perform {schema}.mark_alerts(p.budget_id, p.starts_at, f.spent)
           from {schema}.read_budget_figures(p.budget_id, moment) f where f.starts_at = p.starts_at and f.spent > 0;
        perform {schema}.set_actor('upkeep', 'system', 'budgets');
        perform {schema}.audit('budgets.limit', 'budget', p.name, p.tenant_id,
            jsonb_build_object('period', p.label, 'limit_amount', p.limit_amount, 'until', p.limit_until),
            jsonb_build_object('period', p.label, 'limit_amount', p.limit_back), 'it held until then');
        perform {schema}.set_actor(null, null, null);
        done := done + 1;
    end loop;
    return done;
end
$$;
