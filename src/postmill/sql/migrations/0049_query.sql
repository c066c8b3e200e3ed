-- postmill: safe
-- The query language of job lists (domain/query.py). A query is one walk along one index, from the newest job down: the
-- other terms are asked of the jobs met on the way, of which a page looks at p_look at most. So a rare filter among a
-- million costs no more than a common one, and comes back short with the id down to which it is complete.

-- What failed is found by its group, what a trigger made by the trigger, and what a bulk operation made by the operation.
-- A success, and a job made by hand or code, has no row in them.
create index attempt_group on {schema}.attempt (error_group, job_id) where error_group is not null;
create index outcome_group on {schema}.outcome (error_group, job_id) where error_group is not null;
create index attempt_tenant_group on {schema}.attempt (tenant_id, error_group, job_id) where error_group is not null;
create index outcome_tenant_group on {schema}.outcome (tenant_id, error_group, job_id) where error_group is not null;
create index job_source_ref on {schema}.job (source_ref, id) where source_ref is not null and source <> 'event';
create index job_kept_source_ref on {schema}.job_kept (source_ref, id) where source_ref is not null and source <> 'event';
create index operation_item_made on {schema}.operation_item
    (operation_id, (case when status = 'replayed' then new_id else job_id end));

-- Is the job j in one of these states? As a condition; $5 is the moment.
create function {schema}.state_test(p_states text[]) returns text
language plpgsql immutable as $$
declare
    -- A letter that was replayed has an outcome, an open one has none yet.
    ended text[] := array(select case s when 'replayed' then 'dead_letter' else s end from unnest(p_states) s
                           where s in ('succeeded', 'failed', 'canceled', 'replayed'));
    parts text[] := array['false'];
begin
    if 'queued' = any (p_states) then
        parts := parts || array['exists (select from {schema}.ready t where t.id = j.id offset 0)',
            'exists (select from {schema}.scheduled t where t.id = j.id and t.run_at <= $5 offset 0)'];
    end if;
    if p_states && array['scheduled', 'retrying', 'first'] then
        parts := parts || format('exists (select from {schema}.scheduled t where t.id = j.id and t.run_at > $5 and %s offset 0)',
            case when 'scheduled' = any (p_states) then 'true' when 'retrying' = any (p_states) then 't.attempt > 1' else 't.attempt <= 1' end);
    end if;
    parts := parts || array(select format('exists (select from {schema}.%I t where t.id = j.id offset 0)', s)
                              from unnest(p_states) s where s in ('blocked', 'running', 'dead_letter'));
    if cardinality(ended) > 0 then
        parts := parts || format('exists (select from {schema}.outcome t where t.job_id = j.id and t.status = any (%L::text[]) offset 0)', ended);
    end if;
    return '(' || array_to_string(parts, ' or ') || ')';
end
$$;

-- The tickets and outcomes in these states, each by its index: (id, queue, fits). $1 below, $2 first, $3 most, $5 moment,
-- $6 overdue tickets. p_ready, p_scheduled: where waiting tickets are read from.
create function {schema}.places_of(p_states text[], p_tenants uuid[], p_ready text, p_scheduled text) returns text
language plpgsql immutable as $$
declare
    bounds constant text := 't.id < $1 and t.id >= $2 order by t.id desc limit $3';
    ended text;
    parts text[] := '{}';
begin
    if 'queued' = any (p_states) then
        parts := parts || format('(select t.id, t.queue, true as fits from %s t where %s)', p_ready, bounds);
    end if;
    if p_states && array['queued', 'scheduled', 'retrying', 'first'] then
        -- Overdue tickets are few or, where no worker lives, all of them.
        parts := parts || format('(select t.id, t.queue, case when t.run_at <= $5 then %L::boolean else %s end as fits
            from %s t where %s)', 'queued' = any (p_states),
            case when 'scheduled' = any (p_states) then 'true' when 'retrying' = any (p_states) then 't.attempt > 1'
                 when 'first' = any (p_states) then 't.attempt <= 1' else 'false' end,
            p_scheduled, case when p_states && array['scheduled', 'retrying', 'first'] then bounds
                 else 't.id < $1 and t.id >= $2 and t.id = any ($6) order by t.id desc limit $3' end);
    end if;
    parts := parts || array(select format('(select t.id, t.queue, true from {schema}.%I t where %s)', s, bounds)
                              from unnest(p_states) s where s in ('blocked', 'running'));
    if 'dead_letter' = any (p_states) then
        -- A tenant has few letters, or is met soon.
        parts := parts || case when p_tenants is null then format('(select t.id, t.queue, true from {schema}.dead_letter t where %s)', bounds)
            else format('(select t.id, t.queue, true from (select d.id, d.queue from {schema}.dead_letter d where d.tenant_id = any (%L::uuid[])
                order by d.failed_at desc limit 20000) t where %s)', p_tenants, bounds) end;
    end if;
    if 'succeeded' = any (p_states) then
        parts := parts || '(select t.job_id, null, t.status = ''succeeded'' from {schema}.outcome t
            where t.job_id < $1 and t.job_id >= $2 order by t.job_id desc limit $3)'::text;
    end if;
    for ended in select case s when 'replayed' then 'dead_letter' else s end from unnest(p_states) s
                  where s in ('failed', 'canceled', 'replayed') loop
        parts := parts || array(select format('(select t.job_id, null, true from {schema}.outcome t where t.status <> ''succeeded'' and t.status = %L
            and %s and t.job_id < $1 and t.job_id >= $2 order by t.job_id desc limit $3)', ended, n.condition)
            from (select format('t.tenant_id = %L', p.id) as condition from unnest(p_tenants) as p(id)
                  union all select 'true' where p_tenants is null) n);
    end loop;
    return case when cardinality(parts) > 0 then array_to_string(parts, ' union all ') end;
end
$$;

-- Jobs that a filter of domain/query_filter.py describes, the newest first, with ids below p_before: at most p_need, and
-- complete down to low (NULL: to the end). The condition is put together of fixed pieces and quoted values; what is
-- not asked for is not in it, so that the plan is that of the query and no other.
create function {schema}.read_matching(p_filter jsonb, p_before uuid default 'ffffffff-ffff-ffff-ffff-ffffffffffff',
    p_need integer default 51, p_look integer default 2000, out ids uuid[], out low uuid)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off
set jit = off as $$
declare
    moment constant timestamptz := {schema}.now();
    states constant text[] := case when p_filter ? 'states' then array(select jsonb_array_elements_text(p_filter -> 'states')) end;
    own constant uuid := {schema}.scope_tenant();
    nobody constant uuid := '00000000-0000-0000-0000-000000000000';
    tenants uuid[] := case when own is not null then array[own] end;
    sources text[];
    below uuid := p_before;
    first uuid := '00000000-0000-0000-0000-000000000000';
    term jsonb;
    field text;
    named text;                 -- the values as a quoted array
    part text;
    yes text;
    at_moment timestamptz;
    lows uuid[];
    highs uuid[];
    holders uuid[];
    held uuid[];
    keys text[];
    groups text[];
    tags text[];
    tests text := 'true';       -- of a body j, whatever walk found it
    queue_of constant text := ' and (coalesce((select t.queue from {schema}.ready t where t.id = j.id offset 0),
        (select t.queue from {schema}.scheduled t where t.id = j.id offset 0), (select t.queue from {schema}.running t where t.id = j.id offset 0),
        (select t.queue from {schema}.blocked t where t.id = j.id offset 0), (select t.queue from {schema}.dead_letter t where t.id = j.id offset 0),
        j.queue) ';
    queue_tests text[] := '{}'; -- of its queue, which a ticket tells at once
    ready text := '{schema}.ready';
    scheduled text := '{schema}.scheduled';
    few_ready boolean;
    few_scheduled boolean;
    candidates text;            -- an index of its own for one term
    walks text[];
    walk text;
    overdue uuid[];
    looked uuid[];
    queues text[];
    fitting boolean[];
    found_ones uuid[];
    found_low uuid;
    n integer := 0;
begin
    ids := '{}';
    for term in select t.value from jsonb_array_elements(coalesce(p_filter -> 'terms', '[]')) t loop
        field := term ->> 'field';
        yes := case when (term ->> 'not')::boolean then 'is not true' else 'is true' end;
        named := format('%L', array(select v.value from jsonb_array_elements_text(coalesce(term -> 'values', '[]')) v));
        part := null;
        if field in ('since', 'until') then
            at_moment := coalesce((term ->> 'at')::timestamptz, moment - (term ->> 'ago')::double precision * interval '1 second');
            -- An id is made at the moment of the enqueue, give or take what the statement takes.
            if field = 'since' then
                first := greatest(first, {schema}.id_at(greatest(at_moment, '1970-01-02') - interval '1 second'));
                part := format('j.created_at >= %L::timestamptz', at_moment);
            else
                below := least(below, {schema}.id_at(greatest(at_moment, '1970-01-02') + interval '1 second'));
                part := format('j.created_at < %L::timestamptz', at_moment);
            end if;
        elsif field = 'tenant' then
            part := format('j.tenant_id = any (%s::uuid[])', named);
            if yes = 'is true' then
                tenants := array(select distinct v::uuid from jsonb_array_elements_text(term -> 'values') v
                                  where tenants is null or v::uuid = any (tenants));
            end if;
        elsif field = 'type' then
            part := format('j.job_type = any (%s::text[])', named);
        elsif field = 'queue' then
            queue_tests := queue_tests || format('= any (%s::text[])) %s', named, yes);
            -- A queue in which few wait is read as a whole, however many wait in others.
            execute format('select (select count(*) from (select from {schema}.ready t where t.queue = any (%1$s::text[]) limit $1 + 1) x) <= $1,
                (select count(*) from (select from {schema}.scheduled t where t.queue = any (%1$s::text[]) limit $1 + 1) x) <= $1', named)
                into few_ready, few_scheduled using p_look;
            if yes = 'is true' and few_ready then
                ready := format('(select * from {schema}.ready t where t.queue = any (%s::text[]) offset 0)', named);
            end if;
            if yes = 'is true' and few_scheduled then
                scheduled := format('(select * from {schema}.scheduled t where t.queue = any (%s::text[]) offset 0)', named);
            end if;
        elsif field = 'source' then
            part := format('j.source = any (%s::text[])', named);
            if yes = 'is true' then
                sources := array(select jsonb_array_elements_text(term -> 'values'));
            end if;
        elsif field = 'key' then
            part := format('j.idempotency_key = any (%s::text[])', named);
            if yes = 'is true' then
                keys := array(select jsonb_array_elements_text(term -> 'values'));
            end if;
        elsif field = 'actor' then
            part := format('j.actor_id = any (%s::text[])', named);
        elsif field = 'correlation' then
            part := format('j.correlation_id = any (%s::text[])', named);
        elsif field = 'id' then
            lows := array(select (r.value ->> 0)::uuid from jsonb_array_elements(term -> 'ranges') r);
            highs := array(select (r.value ->> 1)::uuid from jsonb_array_elements(term -> 'ranges') r);
            part := format('exists (select from unnest(%L::uuid[], %L::uuid[]) as r(l, h) where j.id between r.l and r.h)', lows, highs);
            if yes = 'is true' and candidates is null then
                candidates := format('select f.id from unnest(%L::uuid[], %L::uuid[]) as r(l, h) cross join lateral (
                    select f.id from {schema}.any_job f where f.id >= greatest(r.l, $2) and f.id <= r.h and f.id < $1
                     order by f.id desc limit $3) f', lows, highs);
            end if;
        elsif field in ('workflow', 'batch') then
            lows := array(select (r.value ->> 0)::uuid from jsonb_array_elements(term -> 'ranges') r);
            highs := array(select (r.value ->> 1)::uuid from jsonb_array_elements(term -> 'ranges') r);
            part := format('exists (select from unnest(%L::uuid[], %L::uuid[]) as r(l, h) where j.workflow_id between r.l and r.h)', lows, highs);
            if yes = 'is true' and candidates is null then
                candidates := format('select f.id from unnest(%L::uuid[], %L::uuid[]) as r(l, h) cross join lateral (
                    select f.id from {schema}.any_job f where f.workflow_id >= r.l and f.workflow_id <= r.h and f.id >= $2 and f.id < $1
                     order by f.id desc limit $3) f', lows, highs);
            end if;
        elsif field = 'op' then
            part := format('exists (select from unnest(%s::uuid[]) as o(id) join {schema}.operation_item i on i.operation_id = o.id
                where (case when i.status = ''replayed'' then i.new_id else i.job_id end) = j.id offset 0)', named);
            if yes = 'is true' and candidates is null then
                candidates := format('select f.id from unnest(%s::uuid[]) as o(id) cross join lateral (
                    select (case when i.status = ''replayed'' then i.new_id else i.job_id end) as id from {schema}.operation_item i
                     where i.operation_id = o.id and %s (case when i.status = ''replayed'' then i.new_id else i.job_id end) < $1
                       and (case when i.status = ''replayed'' then i.new_id else i.job_id end) >= $2
                     order by (case when i.status = ''replayed'' then i.new_id else i.job_id end) desc limit $3) f', named,
                    case when own is not null then format('i.tenant_id = %L and', own) else '' end);
            end if;
        elsif field = 'trigger' then
            part := format('((j.source <> ''event'' and j.source_ref = any (%1$s::text[])) or (j.source = ''event'' and exists (
                select from {schema}.event_delivery d where d.event_id::text = j.source_ref and d.trigger_id = any (%1$s::uuid[])
                   and d.job_id = j.id offset 0)))', named);
            if yes = 'is true' and candidates is null then
                candidates := format('select f.id from unnest(%s::text[]) as t(ref) cross join lateral (
                    (select b.id from {schema}.any_job b where b.source_ref = t.ref and b.source <> ''event'' and b.id < $1 and b.id >= $2
                      order by b.id desc limit $3)
                    union all
                    (select d.job_id from {schema}.event_delivery d where d.trigger_id = t.ref::uuid and d.event_id < $1
                        and d.job_id < $1 and d.job_id >= $2 order by d.event_id desc limit $3)) f', named);
                -- The candidates are those of the trigger already; an event that was forgotten no longer tells.
                part := null;
            end if;
        elsif field = 'error' then
            part := format('(exists (select from {schema}.attempt a where a.job_id = j.id and a.error_group = any (%1$s::text[]) offset 0)
                or exists (select from {schema}.outcome o where o.job_id = j.id and o.error_group = any (%1$s::text[]) offset 0))', named);
            if yes = 'is true' and candidates is null and groups is null then
                groups := array(select jsonb_array_elements_text(term -> 'values'));
                part := null;
            end if;
        elsif field = 'tag' then
            part := format('exists (select from {schema}.job_tag g where g.job_id = j.id and g.tag = any (%s::text[]) offset 0)', named);
            if yes = 'is true' and candidates is null and tags is null then
                tags := array(select jsonb_array_elements_text(term -> 'values'));
                part := null;
            end if;
        elsif field in ('worker', 'build') then
            holders := array(select w.holder from {schema}.worker w
                              where case when field = 'build' then w.build in (select v from jsonb_array_elements_text(term -> 'values') v)
                                         else w.worker_id in (select v from jsonb_array_elements_text(term -> 'values') v)
                                           or w.hostname in (select v from jsonb_array_elements_text(term -> 'values') v) end
                              order by w.started_at desc limit 1000);
            -- What was made after the last of them had ended was run by others.
            below := least(below, (select {schema}.id_at(max(w.stopped_at) + interval '10 minutes') from {schema}.worker w
                                    where w.holder = any (holders) and yes = 'is true' having bool_and(w.stopped_at is not null)));
            part := format('(exists (select from {schema}.running r where r.id = j.id and r.holder = any (%1$L::uuid[]) offset 0)
                or exists (select from {schema}.outcome o where o.job_id = j.id and o.holder = any (%1$L::uuid[]) offset 0)
                or exists (select from {schema}.attempt a where a.job_id = j.id and a.holder = any (%1$L::uuid[]) offset 0))', holders);
        elsif field = 'attempt' then
            part := format('coalesce((select t.attempt - 1 from {schema}.ready t where t.id = j.id offset 0),
                (select t.attempt - 1 from {schema}.scheduled t where t.id = j.id offset 0),
                (select t.attempt from {schema}.running t where t.id = j.id offset 0),
                (select t.attempts from {schema}.dead_letter t where t.id = j.id offset 0),
                (select t.attempt from {schema}.outcome t where t.job_id = j.id offset 0), 0) %s %L::double precision',
                case term ->> 'op' when '>' then '>' when '<' then '<' when '>=' then '>=' when '<=' then '<=' else '=' end,
                term ->> 'number');
        elsif field = 'ran' then
            part := format('coalesce((select $5 - t.claimed_at from {schema}.running t where t.id = j.id offset 0),
                (select t.finished_at - t.started_at from {schema}.outcome t where t.job_id = j.id offset 0),
                (select t.finished_at - t.started_at from {schema}.attempt t where t.job_id = j.id order by t.run desc limit 1))
                %s %L::double precision * interval ''1 second''',
                case term ->> 'op' when '>' then '>' when '>=' then '>=' when '<=' then '<=' else '<' end, term ->> 'number');
        elsif field = 'args' then
            select '(' || string_agg(format('j.payload @> %L::jsonb', a.value), ' or ') || ')' into part
              from jsonb_array_elements(term -> 'any_of') a;
            if yes = 'is true' and candidates is null then
                held := {schema}.args_matching(array(select a.value from jsonb_array_elements(term -> 'any_of') a), below, first);
                if held is not null then
                    candidates := format('select u.id from unnest(%L::uuid[]) as u(id) where u.id < $1 and u.id >= $2', held);
                end if;
            end if;
        else
            raise exception 'read_matching does not know the term %', field using errcode = 'invalid_parameter_value';
        end if;
        if part is not null then
            tests := tests || format(' and (%s) %s', part, yes);
        end if;
    end loop;
    if cardinality(states) = 0 or cardinality(tenants) = 0 or below <= first then
        return;
    end if;
    if groups is not null and candidates is null then
        -- Each by itself and for each tenant: so the planner knows that one index has them in their order.
        select string_agg(format('(select distinct a.job_id as id from {schema}.%I a where a.error_group = %L and a.job_id < $1
            and a.job_id >= $2 and %s order by 1 desc limit $3)', t.name, g.id, case when n.id = nobody then 'true' else format('a.tenant_id = %L', n.id) end), ' union all ')
          into candidates
          from unnest(array['attempt', 'outcome']) as t(name) cross join unnest(groups) as g(id)
         cross join unnest(coalesce(tenants, array[nobody])) as n(id);
    elsif groups is not null then
        tests := tests || format(' and (exists (select from {schema}.attempt a where a.job_id = j.id and a.error_group = any (%1$L::text[]) offset 0)
            or exists (select from {schema}.outcome o where o.job_id = j.id and o.error_group = any (%1$L::text[]) offset 0))', groups);
    end if;
    if tags is not null and candidates is null then
        select string_agg(format('(select g.job_id as id from {schema}.job_tag g where g.tag = %L and g.job_id < $1 and g.job_id >= $2
            and %s order by 1 desc limit $3)', u.tag, case when n.id = nobody then 'true' else format('g.tenant_id = %L', n.id) end), ' union all ')
          into candidates
          from unnest(tags) as u(tag) cross join unnest(coalesce(tenants, array[nobody])) as n(id);
    elsif tags is not null then
        tests := tests || format(' and exists (select from {schema}.job_tag g where g.job_id = j.id and g.tag = any (%L::text[]) offset 0)', tags);
    end if;
    if keys is not null and candidates is null then
        -- Those that hold the key now are asked first; the others are met on the way.
        held := array(select k.job_id from {schema}.tenant t
                       cross join lateral (select '00000000-0000-0000-0000-000000000000'::uuid as id
                                           union all select p.id from {schema}.project p where p.tenant_id = t.id) p
                       cross join unnest(keys) as u(key)
                       join {schema}.idempotency_key k on k.tenant_id = t.id and k.project_id = p.id and k.key = u.key
                       where tenants is null or t.id = any (tenants) limit 1000);
        tests := tests || format(' and j.id <> all (%L::uuid[])', held);
    end if;
    walks := case when candidates is not null then array['candidates'] when states is null then array['bodies']
                  when tenants is null or states <@ array['failed', 'canceled', 'replayed'] then array['places']
                  -- Successes of one tenant among those of all: its own jobs tell sooner.
                  when 'succeeded' = any (states) then array['bodies']
                  when states <@ array['dead_letter', 'replayed', 'failed', 'canceled', 'running'] then array['places', 'bodies']
                  else array['bodies', 'places'] end;
    if 'queued' = any (states) then
        overdue := array(select s.id from {schema}.scheduled s where s.run_at <= moment order by s.run_at limit 1000);
    end if;
    foreach walk in array walks loop
        n := n + 1;
        found_low := null;
        if walk = 'bodies' then
            part := tests;
            foreach yes in array queue_tests loop
                part := part || queue_of || yes;
            end loop;
            if states is not null then
                part := part || ' and ' || {schema}.state_test(states);
            end if;
            -- Within a tenant what was not made by hand or code has an index.
            -- Where nothing is asked of them, their ids come out of an index.
            select string_agg(format('(select %s from {schema}.any_job j where %s and %s and j.id < $1 and j.id >= $2
                    order by j.id desc limit $3)', case when part = 'true' then 'j.id' else 'j.*' end,
                    case when n.id = nobody then 'true' else format('j.tenant_id = %L', n.id) end,
                    case when o.name = '' then 'true' else format('j.source = %L and j.source <> ''manual''', o.name) end), ' union all ') into named
              from unnest(coalesce(tenants, array[nobody])) as n(id)
             cross join unnest(case when tenants is not null and 'manual' <> all (sources) then sources else array[''] end) as o(name);
            named := format('select x.* from (%s) x order by x.id desc limit $3', named);
            execute format('select array(select j.id from (%s) j where %s order by j.id desc limit $4)', named, part)
                into found_ones using below, first, p_look, p_need, moment;
            if cardinality(found_ones) < p_need then
                execute format('select j.id from (%s) j order by j.id desc offset $3 - 1 limit 1', named)
                    into found_low using below, first, p_look;
            end if;
        else
            part := tests;
            foreach yes in array queue_tests loop
                part := part || case walk when 'places' then ' and (coalesce(u.queue, j.queue) ' else queue_of end || yes;
            end loop;
            if tenants is not null then
                part := part || format(' and j.tenant_id = any (%L::uuid[])', tenants);
            end if;
            if walk = 'places' then
                execute format('select array_agg(y.id order by y.id desc), array_agg(y.queue order by y.id desc), array_agg(y.fits order by y.id desc)
                    from (select x.* from (%s) x(id, queue, fits) order by x.id desc limit $3) y', {schema}.places_of(states, tenants, ready, scheduled))
                    into looked, queues, fitting using below, first, p_look, p_need, moment, overdue;
            else
                execute format('select array(select distinct x.id from (%s) x(id) where x.id is not null order by 1 desc limit $3)', candidates)
                    into looked using below, first, p_look;
                queues := array_fill(null::text, array[cardinality(looked)]);
                fitting := array_fill(true, array[cardinality(looked)]);
                if states is not null then
                    part := part || ' and ' || {schema}.state_test(states);
                end if;
            end if;
            -- A nested loop keeps the order of its outer side, and the limit ends it as soon as enough is found. Without any
            -- test the bodies need not be asked.
            execute format('select array(select u.id from unnest($1::uuid[], $2::text[], $3::boolean[]) as u(id, queue, fits) %s
                where u.fits and %s limit $4)', case when part <> 'true' or walk <> 'places' then 'cross join lateral (
                select f.* from {schema}.any_job f where f.id = u.id offset 0) j' else '' end, part)
                into found_ones using looked, queues, fitting, p_need, moment;
            if cardinality(found_ones) < p_need then
                found_low := looked[p_look];
            end if;
        end if;
        -- Each is complete down to its low: the one that comes further down holds all of the other.
        if n = 1 or found_low is null or found_low < low then
            ids := found_ones;
            low := found_low;
        end if;
        exit when cardinality(ids) >= p_need or low is null;
    end loop;
    if keys is not null and candidates is null and p_before = 'ffffffff-ffff-ffff-ffff-ffffffffffff' and cardinality(held) > 0 then
        select w.ids || read_matching.ids into ids
          from {schema}.read_matching(jsonb_set(p_filter, '{terms}', (
                select jsonb_agg(t.value) from jsonb_array_elements(p_filter -> 'terms') t
                 where t.value ->> 'field' <> 'key' or (t.value ->> 'not')::boolean) || jsonb_build_array(jsonb_build_object(
                    'field', 'id', 'not', false, 'ranges', (select jsonb_agg(jsonb_build_array(h, h)) from unnest(held) h)))),
                p_need => p_need, p_look => p_look) w;
    end if;
end
$$;
