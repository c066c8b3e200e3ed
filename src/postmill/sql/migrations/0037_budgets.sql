-- postmill: safe
-- Budgets: caps on spend per period. Money is reserved before it is spent and settled after, so that parallel jobs never
-- overrun. All amounts are numeric and exact. A budget of the platform (tenant_id null) caps what all tenants spend under
-- its name; a tenant's own budget of that name stands under it: a spend must fit both.

-- Levels are NORMAL, REDUCE, QUEUE, HARD_STOP: from which share of the limit in percent, with which factor for batch sizes,
-- and what comes of a run: run | defer (it ends with nothing done) | stop (it is given up). timezone null: the tenant's.
create table {schema}.budget (
    id uuid primary key default {schema}.new_id(),
    name text collate "C" not null check (length(name) between 1 and 64),
    tenant_id uuid,
    period text collate "C" not null default 'month' check (period in ('month', 'day')),
    timezone text collate "C",
    unit text collate "C" not null default 'USD' check (length(unit) between 1 and 16),
    limit_amount numeric not null check (limit_amount between 0 and 1000000000000),
    level_from numeric[] not null default '{0,75,90,100}' check (cardinality(level_from) = 4),
    level_factor numeric[] not null default '{1,0.5,0,0}' check (cardinality(level_factor) = 4),
    level_action text[] collate "C" not null default '{run,run,defer,stop}' check (cardinality(level_action) = 4),
    alert_at numeric[] not null default '{75,80,90,100}',
    alert_severity text[] collate "C" not null default '{info,info,warning,critical}',
    declared jsonb, -- what the settings said last; null: made by hand
    created_at timestamptz not null default {schema}.now(),
    updated_at timestamptz not null default {schema}.now(),
    check (cardinality(alert_at) = cardinality(alert_severity))
);
-- Names are found without case, and with - for _.
create index budget_place on {schema}.budget (name, id);
create unique index budget_name on {schema}.budget (lower(replace(name, '_', '-')), coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'));

-- Made by the first reservation in it. limit_own: its limit was set for this period alone.
create table {schema}.budget_period (
    budget_id uuid not null,
    starts_at timestamptz not null,
    ends_at timestamptz not null,
    tenant_id uuid,
    label text collate "C" not null,
    limit_amount numeric not null check (limit_amount between 0 and 1000000000000),
    limit_own boolean not null default false,
    primary key (budget_id, starts_at)
);
create index budget_period_ends on {schema}.budget_period (ends_at);

-- Where a period stands: appended, never updated, the row with the highest seq counts. So a pinned horizon slows nothing
-- (see rate_take). Written under the lock of the row in budget, which has no versions of its own.
create table {schema}.budget_balance (
    budget_id uuid not null,
    starts_at timestamptz not null,
    seq bigint not null,
    tenant_id uuid,
    spent numeric not null,
    reserved numeric not null,
    calls bigint not null,
    tokens_in bigint not null,
    tokens_out bigint not null,
    primary key (budget_id, starts_at, seq)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- The ledger, append-only; the sum of a period's lines is what was spent. spend: a settled call; estimate: one whose cost
-- nobody told, at what was reserved; adjust: what an estimate turned out to be off by; correct: an operator's.
-- tenant_id: whose work it was.
create table {schema}.budget_line (
    id uuid not null,
    budget_id uuid not null,
    starts_at timestamptz not null,
    at timestamptz not null,
    kind text collate "C" not null check (kind in ('spend', 'estimate', 'adjust', 'correct')),
    amount numeric not null check (amount between -1000000000000 and 1000000000000),
    tokens_in bigint not null default 0,
    tokens_out bigint not null default 0,
    tenant_id uuid,
    reservation_id uuid,
    job_id uuid,
    attempt integer,
    job_type text collate "C",
    actor_type text collate "C" not null,
    actor_id text,
    reason text,
    primary key (budget_id, starts_at, id)
);
create unique index budget_line_once on {schema}.budget_line (reservation_id, budget_id, kind) where reservation_id is not null;

-- What a running attempt holds. started: the call may have been made. Its fence (job, holder, claim_no) is the attempt's;
-- when that holds no more, a started one is booked as an estimate and one that never started is freed.
create table {schema}.budget_reservation (
    id uuid not null,
    budget_id uuid not null,
    starts_at timestamptz not null,
    tenant_id uuid not null,
    amount numeric not null check (amount between 0 and 1000000000000),
    started boolean not null,
    job_id uuid not null,
    holder uuid not null,
    claim_no bigint not null,
    attempt integer not null,
    job_type text collate "C" not null,
    actor_type text collate "C" not null,
    actor_id text,
    state text collate "C" not null default 'held' check (state in ('held', 'spent', 'estimated', 'released')),
    reserved_at timestamptz not null,
    ended_at timestamptz,
    primary key (id, budget_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
create index budget_reservation_held on {schema}.budget_reservation (reserved_at) where ended_at is null;
create index budget_reservation_ended on {schema}.budget_reservation (ended_at) where ended_at is not null;

-- Thresholds that were crossed: each once per period, and again only if the limit was changed after it, or it was lowered by a
-- correction. The round of upkeep tells of it (told_at), and resolves it when its period ends, or it is no longer true.
create table {schema}.budget_alert (
    budget_id uuid not null,
    starts_at timestamptz not null,
    percent numeric not null,
    crossed_at timestamptz not null,
    tenant_id uuid,
    severity text collate "C" not null,
    limit_amount numeric not null,
    spent numeric not null,
    told_at timestamptz,
    lowered_at timestamptz,
    resolved_at timestamptz,
    primary key (budget_id, starts_at, percent, crossed_at)
);
create index budget_alert_open on {schema}.budget_alert (crossed_at) where resolved_at is null;

insert into {schema}.upkeep (name) values ('budgets');

create function {schema}.refuse_budget_rewriting() returns trigger
language plpgsql as $$
begin
    raise exception 'a line of %.% is never changed: append a correcting one', tg_table_schema, tg_table_name
        using errcode = 'restrict_violation';
end
$$;
create trigger never_rewritten before update on {schema}.budget_line
    for each statement execute function {schema}.refuse_budget_rewriting();

-- The period of this kind and zone around a moment. Bounds are local midnights, so that periods join without gaps
-- whatever the clock does; where a midnight comes twice, the second one counts.
create function {schema}.read_budget_window(p_period text, p_zone text, p_moment timestamptz,
    out starts_at timestamptz, out ends_at timestamptz, out label text)
language plpgsql stable as $$
declare
    step constant interval := ('1 ' || p_period)::interval;
    local timestamp := date_trunc(p_period, p_moment at time zone p_zone);
begin
    local := case when local at time zone p_zone > p_moment then local - step else local end;
    starts_at := local at time zone p_zone;
    ends_at := (local + step) at time zone p_zone;
    label := to_char(local, case p_period when 'month' then 'YYYY-MM' else 'YYYY-MM-DD' end);
end
$$;

-- The period of a budget around a moment as it is, or as the first reservation would make it. A change of period or zone
-- counts from the end of the present period on.
create function {schema}.read_budget_period(p_budget uuid, p_moment timestamptz) returns {schema}.budget_period
language plpgsql stable as $$
declare
    b {schema}.budget;
    found_one {schema}.budget_period;
    made record;
begin
    select x.* into found_one from {schema}.budget_period x
     where x.budget_id = p_budget and x.starts_at <= p_moment order by x.starts_at desc limit 1;
    if found_one.ends_at > p_moment then
        return found_one;
    end if;
    select x.* into b from {schema}.budget x where x.id = p_budget;
    select w.* into made from {schema}.read_budget_window(b.period, coalesce(b.timezone,
        (select t.timezone from {schema}.tenant t where t.id = b.tenant_id), 'UTC'), p_moment) w;
    return row(b.id, greatest(made.starts_at, found_one.ends_at),
        least(made.ends_at, (select min(x.starts_at) from {schema}.budget_period x
                              where x.budget_id = p_budget and x.starts_at > p_moment)),
        b.tenant_id, made.label, b.limit_amount, false, null, null)::{schema}.budget_period;
end
$$;

-- Where a budget stands in the period around a moment. level: 1 to 4; used is what is spent or reserved.
create function {schema}.read_budget_figures(p_budget uuid, p_moment timestamptz)
returns table (id uuid, name text, tenant_id uuid, unit text, level integer, action text, factor numeric, limit_amount numeric,
    limit_own boolean, spent numeric, reserved numeric, calls bigint, tokens_in bigint, tokens_out bigint, starts_at timestamptz,
    ends_at timestamptz, label text)
language plpgsql stable as $$
declare
    b {schema}.budget;
    p {schema}.budget_period := {schema}.read_budget_period(p_budget, p_moment);
    s {schema}.budget_balance;
begin
    select x.* into b from {schema}.budget x where x.id = p_budget;
    select x.* into s from {schema}.budget_balance x
     where x.budget_id = p_budget and x.starts_at = p.starts_at order by x.seq desc limit 1;
    id := b.id; name := b.name; tenant_id := b.tenant_id; unit := b.unit;
    limit_amount := p.limit_amount; limit_own := p.limit_own; starts_at := p.starts_at; ends_at := p.ends_at; label := p.label;
    spent := coalesce(s.spent, 0); reserved := coalesce(s.reserved, 0);
    calls := coalesce(s.calls, 0); tokens_in := coalesce(s.tokens_in, 0); tokens_out := coalesce(s.tokens_out, 0);
    level := (select coalesce(max(u.n), 1) from unnest(b.level_from) with ordinality as u(percent, n)
               where (read_budget_figures.spent + read_budget_figures.reserved) * 100 >= u.percent * p.limit_amount);
    action := b.level_action[level]; factor := b.level_factor[level];
    return next;
end
$$;

-- The budgets of this name that a tenant's jobs are under: its own, the platform's, or both.
create function {schema}.budget_standing(p_name text, p_tenant uuid)
returns table (id uuid, name text, tenant_id uuid, unit text, level integer, action text, factor numeric, limit_amount numeric,
    limit_own boolean, spent numeric, reserved numeric, calls bigint, tokens_in bigint, tokens_out bigint, starts_at timestamptz,
    ends_at timestamptz, label text)
language plpgsql volatile as $$
declare
    moment constant timestamptz := {schema}.now();
begin
    return query
    select f.* from {schema}.budget b cross join lateral {schema}.read_budget_figures(b.id, moment) f
     where lower(replace(b.name, '_', '-')) = lower(replace(p_name, '_', '-')) and (b.tenant_id = p_tenant or b.tenant_id is null)
     order by f.level desc, b.id;
end
$$;

-- Appends to a period's balance. Only under the lock of the budget.
create function {schema}.book_budget(p_budget uuid, p_tenant uuid, p_starts_at timestamptz, p_spent numeric, p_reserved numeric,
    p_calls integer default 0, p_in bigint default 0, p_out bigint default 0) returns void
language plpgsql volatile as $$
declare
    s {schema}.budget_balance;
begin
    select x.* into s from {schema}.budget_balance x
     where x.budget_id = p_budget and x.starts_at = p_starts_at order by x.seq desc limit 1;
    insert into {schema}.budget_balance (budget_id, starts_at, seq, tenant_id, spent, reserved, calls, tokens_in, tokens_out)
    values (p_budget, p_starts_at, coalesce(s.seq, 0) + 1, p_tenant, coalesce(s.spent, 0) + p_spent,
            coalesce(s.reserved, 0) + p_reserved, coalesce(s.calls, 0) + p_calls, coalesce(s.tokens_in, 0) + p_in,
            coalesce(s.tokens_out, 0) + p_out);
    delete from {schema}.budget_balance x where x.budget_id = p_budget and x.starts_at = p_starts_at and x.seq = s.seq - 20;
    if p_spent > 0 then
        perform {schema}.mark_alerts(p_budget, p_starts_at, coalesce(s.spent, 0) + p_spent);
    end if;
end
$$;

-- Notes which thresholds what is spent has come to, if the period is not over. Reservations do not count here.
create function {schema}.mark_alerts(p_budget uuid, p_starts_at timestamptz, p_spent numeric) returns void
language plpgsql volatile as $$
begin
    insert into {schema}.budget_alert (budget_id, starts_at, percent, crossed_at, tenant_id, severity, limit_amount, spent)
    select b.id, p.starts_at, u.percent, {schema}.now(), b.tenant_id, u.severity, p.limit_amount, p_spent
      from {schema}.budget b
      join {schema}.budget_period p on p.budget_id = b.id and p.starts_at = p_starts_at and p.ends_at > (select {schema}.now())
     cross join unnest(b.alert_at, b.alert_severity) as u(percent, severity)
     where b.id = p_budget and p_spent * 100 >= u.percent * p.limit_amount
       and not exists (select from {schema}.budget_alert a where a.budget_id = b.id and a.starts_at = p.starts_at
               and a.percent = u.percent and a.lowered_at is null and (a.resolved_at is null or a.limit_amount = p.limit_amount));
end
$$;

-- Reserves in every budget of this name, or in none. Statuses: granted (also if it was before) | deferred | stopped | lost
-- (the attempt holds its job no more) | unknown (no budget of that name) | ended (this reservation was settled or released);
-- figures: of the budget that decided, after it. What does not fit the limit is deferred; what is more than all of it gets
-- the answer of HARD_STOP. A budget whose HARD_STOP has the action run only warns.
create function {schema}.reserve_budget(p_id uuid, p_name text, p_amount numeric, p_started boolean, p_job uuid, p_holder uuid,
    p_claim_no bigint, p_tenant uuid, p_attempt integer, p_job_type text, p_actor_type text, p_actor_id text,
    out status text, out figures jsonb)
language plpgsql volatile as $$
declare
    moment constant timestamptz := {schema}.now();
    ids uuid[];
    p {schema}.budget_period;
    one record;
    verdict text;
    decisive uuid;
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'postmill: budgets need READ COMMITTED';
    end if;
    ids := array(select x.id from (select b.id from {schema}.budget b
        where lower(replace(b.name, '_', '-')) = lower(replace(p_name, '_', '-')) and (b.tenant_id = p_tenant or b.tenant_id is null)
        order by b.id for no key update) x);
    if ids = '{}' then
        status := 'unknown';
        return;
    end if;
    select case r.state when 'held' then 'granted' else 'ended' end into status
      from {schema}.budget_reservation r where r.id = p_id order by r.state = 'held' limit 1;
    if status is null and not exists (select from {schema}.running t
        where t.id = p_job and t.holder = p_holder and t.claim_no = p_claim_no)
    then
        status := 'lost';
    elsif status is null then
        status := 'granted';
        for one in select f.*, b.level_action[4] as last from {schema}.budget b
                    cross join lateral {schema}.read_budget_figures(b.id, moment) f where b.id = any (ids) order by b.id loop
            verdict := case when one.action <> 'run' then one.action
                            when one.last = 'run' or one.spent + one.reserved + p_amount <= one.limit_amount then 'granted'
                            when p_amount > one.limit_amount then one.last else 'defer' end;
            if verdict = 'stop' or (verdict = 'defer' and status = 'granted') then
                status := case verdict when 'stop' then 'stopped' else 'deferred' end;
                decisive := one.id;
            end if;
        end loop;
        if status = 'granted' then
            for one in select b.id, b.tenant_id from {schema}.budget b where b.id = any (ids) order by b.id loop
                p := {schema}.read_budget_period(one.id, moment);
                insert into {schema}.budget_period select p.* on conflict do nothing;
                insert into {schema}.budget_reservation (id, budget_id, starts_at, tenant_id, amount, started, job_id, holder,
                       claim_no, attempt, job_type, actor_type, actor_id, reserved_at)
                values (p_id, one.id, p.starts_at, p_tenant, p_amount, p_started, p_job, p_holder, p_claim_no, p_attempt,
                        p_job_type, p_actor_type, p_actor_id, moment);
                perform {schema}.book_budget(one.id, one.tenant_id, p.starts_at, 0, p_amount);
            end loop;
        end if;
    end if;
    select to_jsonb(f.*) into figures from unnest(ids) as u(id) cross join lateral {schema}.read_budget_figures(u.id, moment) f
     where u.id = coalesce(decisive, u.id) order by f.level desc, u.id limit 1;
end
$$;

-- The call begins: from here on the reservation is booked if nobody settles it. False: it is held no more, do not call.
create function {schema}.start_budget(p_id uuid, p_job uuid, p_holder uuid, p_claim_no bigint) returns boolean
language plpgsql volatile as $$
begin
    update {schema}.budget_reservation r set started = true
     where r.id = p_id and r.job_id = p_job and r.holder = p_holder and r.claim_no = p_claim_no and r.ended_at is null
       and exists (select from {schema}.running t where t.id = p_job and t.holder = p_holder and t.claim_no = p_claim_no);
    return found;
end
$$;

-- Ends a reservation: p_verb settle (p_amount is what it cost, NULL: what was reserved), estimate (nobody knows: what was reserved) or release
-- (nothing was spent). Once: what comes later changes nothing, but for the truth about an estimate or about one that was
-- freed. It counts in the period in which it was reserved. spent: what was newly booked, as (job type, unit, amount).
create function {schema}.end_reservation(p_id uuid, p_job uuid, p_holder uuid, p_claim_no bigint, p_verb text, p_amount numeric,
    p_in bigint, p_out bigint, out status text, out job_type text, out unit text, out booked numeric, out figures jsonb)
language plpgsql volatile as $$
declare
    moment constant timestamptz := {schema}.now();
    r record;
    cost numeric;
    line text;
begin
    perform from {schema}.budget b
      where b.id in (select x.budget_id from {schema}.budget_reservation x where x.id = p_id) order by b.id for no key update;
    status := 'unknown';
    for r in select x.*, b.tenant_id as owner, b.unit from {schema}.budget_reservation x join {schema}.budget b on b.id = x.budget_id
              where x.id = p_id and x.job_id = p_job and x.holder = p_holder and x.claim_no = p_claim_no order by x.budget_id loop
        job_type := r.job_type; unit := r.unit;
        cost := case p_verb when 'settle' then coalesce(p_amount, r.amount) when 'release' then 0 else r.amount end;
        if r.state = 'spent' or (r.state = 'estimated' and p_verb = 'estimate') or (r.state = 'released' and p_verb <> 'settle') then
            status := r.state; booked := 0;
            continue;
        end if;
        status := case p_verb when 'settle' then 'spent' when 'release' then 'released' else 'estimated' end;
        booked := cost - case r.state when 'estimated' then r.amount else 0 end;
        line := case when r.state = 'estimated' then 'adjust' when p_verb = 'settle' then 'spend' else p_verb end;
        if line <> 'release' then
            insert into {schema}.budget_line (id, budget_id, starts_at, at, kind, amount, tokens_in, tokens_out, tenant_id,
                   reservation_id, job_id, attempt, job_type, actor_type, actor_id)
            values ({schema}.new_id(), r.budget_id, r.starts_at, moment, line, booked, p_in, p_out, r.tenant_id, p_id, r.job_id,
                    r.attempt, r.job_type, r.actor_type, r.actor_id);
        end if;
        perform {schema}.book_budget(r.budget_id, r.owner, r.starts_at, booked, case r.state when 'held' then -r.amount else 0 end,
            case when r.state = 'estimated' or line = 'release' then 0 else 1 end, p_in, p_out);
        update {schema}.budget_reservation x set state = status, ended_at = moment where x.id = p_id and x.budget_id = r.budget_id;
    end loop;
    select to_jsonb(f.*) into figures from {schema}.budget_reservation x
     cross join lateral {schema}.read_budget_figures(x.budget_id, moment) f where x.id = p_id order by f.level desc, x.budget_id limit 1;
end
$$;

-- Budgets that the settings declare. What the settings say anew counts; what an operator changed since stays. A row for each:
-- created | changed | kept | unknown_tenant | other_unit | spent_in.
create function {schema}.register_budgets(p_budgets jsonb)
returns table (name text, status text)
language plpgsql volatile as $$
declare
    item jsonb;
    owner uuid;
    before jsonb;
    news jsonb;
begin
    for item in select t.item from jsonb_array_elements(p_budgets) as t(item) order by t.item ->> 'name', t.item ->> 'tenant' loop
        name := item ->> 'name'; owner := null;
        if item ->> 'tenant' is not null then
            select t.id into owner from {schema}.tenant t where t.slug = item ->> 'tenant';
            if not found then
                status := 'unknown_tenant';
                return next;
                continue;
            end if;
        end if;
        select b.declared into before from {schema}.budget b
         where lower(replace(b.name, '_', '-')) = lower(replace(item ->> 'name', '_', '-')) and b.tenant_id is not distinct from owner;
        if before = item then
            status := 'kept';
        else
            select coalesce(jsonb_object_agg(f.key, f.value), '{}') into news from jsonb_each(item - 'tenant') f
             where before is null or f.value is distinct from before -> f.key;
            select d.status into status from {schema}.door_set_budget(item ->> 'name', owner, news, 'put', 'declared in the settings',
                'system', 'settings', item) d;
            status := case status when 'unchanged' then 'kept' else status end;
        end if;
        return next;
    end loop;
end
$$;
