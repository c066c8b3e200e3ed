-- postmill: safe
-- Budgets as people and HTTP workers handle them, and what upkeep does for them.

create index budget_platform on {schema}.budget (id) where tenant_id is null; -- measured in any case

-- Reservations whose attempt is over: booked as an estimate if the call may have been made, else freed. A handler that
-- outlived its lease may still settle, which corrects the estimate.
create function {schema}.expire_reservations(p_most integer)
returns table (job_type text, unit text, booked numeric, status text)
language plpgsql volatile as $$
declare
    budgets uuid[] := array(select distinct r.budget_id from {schema}.budget_reservation r
                             where r.ended_at is null and not exists (select from {schema}.running t
                                    where t.id = r.job_id and t.holder = r.holder and t.claim_no = r.claim_no) limit 100);
    one record;
begin
    perform from {schema}.budget b where b.id = any (budgets) order by b.id for no key update;
    for one in select r.* from {schema}.budget_reservation r
                where r.ended_at is null and r.budget_id = any (budgets) and not exists (select from {schema}.running t
                       where t.id = r.job_id and t.holder = r.holder and t.claim_no = r.claim_no)
                order by r.reserved_at limit p_most for update of r skip locked loop
        select e.job_type, e.unit, e.booked, e.status into job_type, unit, booked, status
          from {schema}.end_reservation(one.id, one.job_id, one.holder, one.claim_no,
                   case when one.started then 'estimate' else 'release' end, null, 0, 0) e;
        if status in ('estimated', 'released') and booked is not null then
            return next;
        end if;
    end loop;
end
$$;

-- Tells of thresholds that were crossed, and takes back what is over. raised | resolved, with what was told.
create function {schema}.tell_budget_alerts(p_most integer)
returns table (status text, name text, tenant_id uuid, percent numeric, severity text)
language plpgsql volatile as $$
declare
    moment constant timestamptz := {schema}.now();
    a record;
begin
    for a in
        select x.*, b.name, b.unit, p.label, p.ends_at, p.limit_amount as limit_now, coalesce(s.spent, 0) as spent_now,
               format('%s:%s:%s', x.budget_id, p.label, x.percent) as key
          from {schema}.budget_alert x
          join {schema}.budget b on b.id = x.budget_id
          join {schema}.budget_period p on p.budget_id = x.budget_id and p.starts_at = x.starts_at
          left join lateral (select y.spent from {schema}.budget_balance y
                              where y.budget_id = x.budget_id and y.starts_at = x.starts_at order by y.seq desc limit 1) s on true
         where x.resolved_at is null order by x.crossed_at limit p_most for update of x skip locked
    loop
        name := a.name; tenant_id := a.tenant_id; percent := a.percent; severity := a.severity; status := null;
        if a.ends_at <= moment or a.lowered_at is not null
           or (a.limit_now > a.limit_amount and a.spent_now * 100 < a.percent * a.limit_now)
        then
            if a.told_at is not null then
                perform {schema}.resolve_incident('budget', a.key);
                status := 'resolved';
            end if;
            update {schema}.budget_alert x set resolved_at = moment
             where x.budget_id = a.budget_id and x.starts_at = a.starts_at and x.percent = a.percent and x.crossed_at = a.crossed_at;
        elsif a.told_at is null then
            perform {schema}.raise_incident('budget', a.key, a.severity,
                format('budget %s: %s %% of %s %s is used in %s', a.name, trim_scale(a.percent), trim_scale(a.limit_amount), a.unit, a.label),
                jsonb_build_object('budget', a.name, 'budget_id', a.budget_id, 'period', a.label, 'percent', a.percent,
                    'spent', a.spent, 'limit', a.limit_amount, 'unit', a.unit, 'ends_at', a.ends_at), p_tenant => a.tenant_id);
            status := 'raised';
            update {schema}.budget_alert x set told_at = moment
             where x.budget_id = a.budget_id and x.starts_at = a.starts_at and x.percent = a.percent and x.crossed_at = a.crossed_at;
        end if;
        if status is not null then
            return next;
        end if;
    end loop;
end
$$;

-- Reservations that ended a week ago, and periods that are past their time with all that is of them.
create function {schema}.sweep_budgets(p_most integer) returns void
language plpgsql volatile as $$
declare
    moment constant timestamptz := {schema}.now();
    edge constant timestamptz := moment - {schema}.keep_of('budgets');
begin
    delete from {schema}.budget_reservation r where r.ctid = any (array(
        select x.ctid from {schema}.budget_reservation x where x.ended_at < moment - interval '7 days' limit p_most));
    delete from {schema}.budget_line l where l.ctid = any (array(
        select x.ctid from {schema}.budget_period p join {schema}.budget_line x on x.budget_id = p.budget_id and x.starts_at = p.starts_at
         where p.ends_at < edge limit p_most));
    with gone as (
        delete from {schema}.budget_period p where p.ctid = any (array(
            select o.ctid from {schema}.budget_period o where o.ends_at < edge and not exists (select from {schema}.budget_line l
                    where l.budget_id = o.budget_id and l.starts_at = o.starts_at) limit p_most))
        returning p.budget_id, p.starts_at
    ), balances as (
        delete from {schema}.budget_balance s using gone g where s.budget_id = g.budget_id and s.starts_at = g.starts_at
    )
    delete from {schema}.budget_alert a using gone g where a.budget_id = g.budget_id and a.starts_at = g.starts_at;
end
$$;

-- What people see of budgets within their scope, by name and id after these, or one by id or name.

create function {schema}.read_budgets(p_after text, p_after_id uuid, p_most integer, p_id uuid default null,
    p_name text default null, p_tenant uuid default null)
returns table (id uuid, name text, tenant_id uuid, period text, timezone text, unit text, budget_limit numeric, level_from numeric[],
    level_factor numeric[], level_action text[], alert_at numeric[], alert_severity text[], declared boolean, created_at timestamptz,
    updated_at timestamptz, level integer, action text, limit_amount numeric, spent numeric, reserved numeric, calls bigint,
    tokens_in bigint, tokens_out bigint, starts_at timestamptz, ends_at timestamptz, label text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    moment constant timestamptz := {schema}.now();
begin
    return query
    select b.id, b.name, b.tenant_id, b.period, coalesce(b.timezone, t.timezone, 'UTC'), b.unit, b.limit_amount, b.level_from,
           b.level_factor, b.level_action, b.alert_at, b.alert_severity, b.declared is not null, b.created_at, b.updated_at, f.level,
           f.action, f.limit_amount, f.spent, f.reserved, f.calls, f.tokens_in, f.tokens_out, f.starts_at, f.ends_at, f.label
      from (select x.* from {schema}.budget x
             where (p_id is null or x.id = p_id)
               and (p_name is null or lower(replace(x.name, '_', '-')) = lower(replace(p_name, '_', '-')))
               and (p_tenant is null or x.tenant_id = p_tenant)
               and (p_after is null or (x.name, x.id) > (p_after, p_after_id))
             order by x.name, x.id limit p_most) b
      left join {schema}.tenant t on t.id = b.tenant_id
     cross join lateral {schema}.read_budget_figures(b.id, moment) f
     order by b.name, b.id;
end
$$;

-- The periods of the last so many months, the present one first and counted.
create function {schema}.read_budget_history(p_id uuid, p_months integer, p_most integer)
returns table (label text, starts_at timestamptz, ends_at timestamptz, limit_amount numeric, spent numeric, reserved numeric,
    calls bigint, tokens_in bigint, tokens_out bigint, alerts jsonb)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment constant timestamptz := {schema}.now();
begin
    return query
    select p.label, p.starts_at, p.ends_at, p.limit_amount, coalesce(s.spent, 0), coalesce(s.reserved, 0), coalesce(s.calls, 0),
           coalesce(s.tokens_in, 0), coalesce(s.tokens_out, 0),
           coalesce((select jsonb_agg(jsonb_build_object('percent', a.percent, 'severity', a.severity, 'crossed_at', a.crossed_at,
                                      'resolved_at', a.resolved_at) order by a.crossed_at, a.percent)
                       from {schema}.budget_alert a where a.budget_id = p_id and a.starts_at = p.starts_at), '[]')
      from {schema}.budget_period p
      join {schema}.budget b on b.id = p.budget_id
      left join lateral (select y.* from {schema}.budget_balance y
                          where y.budget_id = p.budget_id and y.starts_at = p.starts_at order by y.seq desc limit 1) s on true
     where p.budget_id = p_id and case b.period when 'month' then p.ends_at > moment - (p_months - 1) * interval '1 month'
                                    else p.starts_at > moment - p_months * interval '1 month' end
     order by p.starts_at desc limit p_most;
end
$$;

-- What a period's money went to: by job_type, tenant or actor, the most first; null label: the present period.
create function {schema}.read_budget_breakdown(p_id uuid, p_label text, p_by text, p_most integer)
returns table (key text, amount numeric, calls bigint, tokens_in bigint, tokens_out bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select case p_by when 'job_type' then coalesce(l.job_type, '') when 'tenant' then coalesce(t.slug, l.tenant_id::text, '')
                     else l.actor_type || ':' || coalesce(l.actor_id, '') end,
           sum(l.amount), count(*) filter (where l.kind in ('spend', 'estimate')), sum(l.tokens_in)::bigint, sum(l.tokens_out)::bigint
      from {schema}.budget_line l
      join {schema}.budget b on b.id = l.budget_id
      left join {schema}.tenant t on t.id = l.tenant_id
     where l.budget_id = p_id and l.starts_at = {schema}.read_budget_start(p_id, p_label)
     group by 1 order by 2 desc, 1 limit p_most;
end
$$;

create function {schema}.read_budget_start(p_id uuid, p_label text) returns timestamptz
language plpgsql stable as $$
begin
    if p_label is null then
        return (select p.starts_at from {schema}.read_budget_period(p_id, {schema}.now()) p);
    end if;
    return (select max(p.starts_at) from {schema}.budget_period p where p.budget_id = p_id and p.label = p_label);
end
$$;

-- Lines of a period, the last first, before the one with this id.
create function {schema}.read_budget_lines(p_id uuid, p_label text, p_before uuid, p_most integer)
returns table (id uuid, at timestamptz, kind text, amount numeric, tokens_in bigint, tokens_out bigint, tenant_id uuid,
    reservation_id uuid, job_id uuid, attempt integer, job_type text, actor_type text, actor_id text, reason text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    start constant timestamptz := {schema}.read_budget_start(p_id, p_label);
begin
    return query
    select l.id, l.at, l.kind, l.amount, l.tokens_in, l.tokens_out, l.tenant_id, l.reservation_id, l.job_id, l.attempt, l.job_type,
           l.actor_type, l.actor_id, l.reason
      from {schema}.budget_line l join {schema}.budget b on b.id = l.budget_id
     where l.budget_id = p_id and l.starts_at = start and (p_before is null or l.id < p_before)
     order by l.id desc limit p_most;
end
$$;

create function {schema}.budget_json(p_id uuid) returns jsonb
language plpgsql stable as $$
begin
    return (select to_jsonb(b) - 'declared' - 'id' - 'created_at' - 'updated_at' from {schema}.budget b where b.id = p_id);
end
$$;

-- Makes a budget or changes those fields of it that are named. Statuses: created | changed | unchanged | exists (p_mode create) |
-- unknown (p_mode change, or out of scope) | other_unit (a budget of that name in another unit is above or below it) |
-- spent_in (the unit of money that was spent stays). A limit counts in the present period at once.
create function {schema}.door_set_budget(p_name text, p_tenant uuid, p_fields jsonb, p_mode text, p_reason text default null,
    p_actor_type text default null, p_actor_id text default null, p_declared jsonb default null, out id uuid, out status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    old {schema}.budget;
    new {schema}.budget;
    was jsonb;
    p {schema}.budget_period;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    status := 'unknown';
    if not {schema}.in_scope(p_tenant) or (p_tenant is not null and not exists (select from {schema}.tenant t where t.id = p_tenant)) then
        return;
    end if;
    select b.* into old from {schema}.budget b where lower(replace(b.name, '_', '-')) = lower(replace(p_name, '_', '-'))
       and b.tenant_id is not distinct from p_tenant for update;
    if old.id is null and p_mode = 'change' then
        return;
    elsif old.id is not null and p_mode = 'create' then
        id := old.id; status := 'exists';
        return;
    end if;
    if exists (select from {schema}.budget b where lower(replace(b.name, '_', '-')) = lower(replace(p_name, '_', '-'))
            and b.id is distinct from old.id and (b.tenant_id is null or p_tenant is null)
            and b.unit <> coalesce(p_fields ->> 'unit', old.unit, 'USD')) then
        status := 'other_unit';
        return;
    end if;
    if old.id is null then
        insert into {schema}.budget (name, tenant_id, limit_amount) values (p_name, p_tenant, (p_fields ->> 'limit_amount')::numeric)
        on conflict do nothing returning * into old;
        if not found then -- made by somebody else meanwhile
            status := 'exists';
            return;
        end if;
        status := 'created';
    elsif p_fields ->> 'unit' <> old.unit and exists (select from {schema}.budget_balance s where s.budget_id = old.id) then
        status := 'spent_in'; id := old.id;
        return;
    else
        was := {schema}.budget_json(old.id);
    end if;
    id := old.id;
    new := jsonb_populate_record(old, p_fields - 'id' - 'name' - 'tenant_id');
    new.declared := coalesce(p_declared, new.declared);
    if status <> 'created' and to_jsonb(new) - 'declared' = to_jsonb(old) - 'declared' then
        status := 'unchanged';
    else
        status := case status when 'created' then status else 'changed' end;
    end if;
    update {schema}.budget b
       set period = new.period, timezone = new.timezone, unit = new.unit, limit_amount = new.limit_amount, level_from = new.level_from,
           level_factor = new.level_factor, level_action = new.level_action, alert_at = new.alert_at,
           alert_severity = new.alert_severity, declared = new.declared, updated_at = {schema}.now()
     where b.id = old.id and (status <> 'unchanged' or b.declared is distinct from new.declared);
    if status = 'unchanged' then
        return;
    end if;
    p := {schema}.read_budget_period(old.id, {schema}.now());
    update {schema}.budget_period x set limit_amount = new.limit_amount
     where x.budget_id = old.id and x.starts_at >= p.starts_at and not x.limit_own and p_fields ? 'limit_amount';
    update {schema}.budget_period x set limit_back = new.limit_amount
     where x.budget_id = old.id and x.starts_at >= p.starts_at and x.limit_until is not null and p_fields ? 'limit_amount';
    perform {schema}.mark_alerts(old.id, p.starts_at, f.spent) from {schema}.read_budget_figures(old.id, {schema}.now()) f where f.spent > 0;
    perform {schema}.audit('budgets.set', 'budget', old.name, p_tenant, was, {schema}.budget_json(old.id), p_reason);
end
$$;

-- A correction has come below thresholds: they are over, and count anew. What a call turns out to have cost less lowers none,
-- so that nobody is told twice of a threshold that is merely hovered about.
create function {schema}.lower_alerts(p_budget uuid, p_starts_at timestamptz, p_spent numeric) returns void
language plpgsql volatile as $$
begin
    update {schema}.budget_alert a set lowered_at = {schema}.now()
      from {schema}.budget_period p
     where p.budget_id = p_budget and p.starts_at = p_starts_at and a.budget_id = p_budget and a.starts_at = p_starts_at
       and a.lowered_at is null and p_spent * 100 < a.percent * p.limit_amount;
end
$$;

-- A correcting line in a period (null: the present one): corrected | unknown | no_period | below_zero.
create function {schema}.door_correct_budget(p_id uuid, p_label text, p_amount numeric, p_in bigint, p_out bigint, p_reason text,
    p_actor_type text default null, p_actor_id text default null, out line uuid, out status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    b {schema}.budget;
    p {schema}.budget_period;
    s {schema}.budget_balance;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    select x.* into b from {schema}.budget x where x.id = p_id and {schema}.in_scope(x.tenant_id) for no key update;
    if not found then
        status := 'unknown';
        return;
    end if;
    if p_label is null then
        p := {schema}.read_budget_period(p_id, {schema}.now());
        insert into {schema}.budget_period select p.* on conflict do nothing;
    else
        select x.* into p from {schema}.budget_period x where x.budget_id = p_id and x.label = p_label order by x.starts_at desc limit 1;
        if not found then
            status := 'no_period';
            return;
        end if;
    end if;
    select x.* into s from {schema}.budget_balance x
     where x.budget_id = p_id and x.starts_at = p.starts_at order by x.seq desc limit 1;
    if coalesce(s.spent, 0) + p_amount < 0 or coalesce(s.tokens_in, 0) + p_in < 0 or coalesce(s.tokens_out, 0) + p_out < 0 then
        status := 'below_zero';
        return;
    end if;
    line := {schema}.new_id(); status := 'corrected';
    insert into {schema}.budget_line (id, budget_id, starts_at, at, kind, amount, tokens_in, tokens_out, tenant_id, actor_type,
           actor_id, reason)
    values (line, p_id, p.starts_at, {schema}.now(), 'correct', p_amount, p_in, p_out, b.tenant_id, {schema}.acting_type(),
            {schema}.acting_id(), p_reason);
    perform {schema}.book_budget(p_id, b.tenant_id, p.starts_at, p_amount, 0, 0, p_in, p_out);
    if p_amount < 0 then
        perform {schema}.lower_alerts(p_id, p.starts_at, coalesce(s.spent, 0) + p_amount);
    end if;
    perform {schema}.audit('budgets.correct', 'budget', b.name, b.tenant_id,
        jsonb_build_object('period', p.label, 'spent', coalesce(s.spent, 0)),
        jsonb_build_object('period', p.label, 'spent', coalesce(s.spent, 0) + p_amount), p_reason);
end
$$;

-- HTTP workers, under the fence of a job that they hold; the same answers as reserve_budget, with unknown also for a job
-- that is not in scope.
create function {schema}.door_reserve_budget(p_id uuid, p_name text, p_amount numeric, p_started boolean, p_job uuid, p_holder uuid,
    p_claim_no bigint, out status text, out figures jsonb)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    c {schema}.http_claim;
    f jsonb;
begin
    select h.* into c from {schema}.http_claim h
     where h.job_id = p_job and h.claim_no = p_claim_no and h.holder = p_holder and h.ended_at is null and {schema}.in_scope(h.tenant_id);
    if not found or c.expires_at <= {schema}.now() then
        status := 'lost';
        return;
    end if;
    f := {schema}.work_facts(p_job);
    select r.status, r.figures into status, figures
      from {schema}.reserve_budget(p_id, p_name, p_amount, p_started, p_job, p_holder, p_claim_no, c.tenant_id,
               coalesce((select t.attempt from {schema}.running t where t.id = p_job), 1), c.job_type,
               coalesce(f ->> 'actor_type', 'system'), f ->> 'actor_id') r;
end
$$;

create function {schema}.door_start_budget(p_id uuid, p_job uuid, p_holder uuid, p_claim_no bigint) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    return exists (select from {schema}.budget_reservation r where r.id = p_id and {schema}.in_scope(r.tenant_id))
        and {schema}.start_budget(p_id, p_job, p_holder, p_claim_no);
end
$$;

create function {schema}.door_end_reservation(p_id uuid, p_job uuid, p_holder uuid, p_claim_no bigint, p_verb text, p_amount numeric,
    p_in bigint, p_out bigint, out status text, out job_type text, out unit text, out booked numeric, out figures jsonb)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if exists (select from {schema}.budget_reservation r where r.id = p_id and not {schema}.in_scope(r.tenant_id)) then
        status := 'unknown';
        return;
    end if;
    select e.* into status, job_type, unit, booked, figures
      from {schema}.end_reservation(p_id, p_job, p_holder, p_claim_no, p_verb, p_amount, p_in, p_out) e;
end
$$;
