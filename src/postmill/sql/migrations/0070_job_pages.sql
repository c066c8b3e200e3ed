-- postmill: safe
-- What the pages of jobs read most often: counts of a scope, when its jobs were made, and what the page of one job shows.

-- How many jobs are where, each count ending at p_most (at_least: there may be more), and since when the oldest is due.
-- Within a tenant, tickets are counted by whichever are fewer, its jobs or all tickets; where both are many, by the
-- tenant's own lane, which most of its jobs wait in. retrying, of what is scheduled: how many have failed before, among the
-- first 2,000 (retrying_at_least: there are more). One statement for each table and scope, each with one plan for all
-- times: making them took longer than counting.
create function {schema}.read_summary(p_tenant uuid default null, p_most integer default 10000)
returns table (state text, n bigint, at_least boolean, oldest_seconds double precision, open_letters bigint, retrying bigint,
    retrying_at_least boolean)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off as $$
declare
    own constant uuid := coalesce(p_tenant, {schema}.scope_tenant());
    moment constant timestamptz := {schema}.now();
    look constant integer := 2000;
    bodies bigint := 0;
    tickets bigint;
    mine uuid[];
    known bigint := 0;
    ended bigint := 0;          -- outcomes that are no successes
    bounded boolean := false;
    first uuid;
begin
    if own is not null then
        select count(*) into bodies from (select from {schema}.job j where j.tenant_id = own limit p_most + 1) x;
        select bodies + count(*) into bodies from (select from {schema}.job_kept k where k.tenant_id = own limit p_most + 1) x;
        if bodies <= p_most then
            mine := array(select j.id from {schema}.any_job j where j.tenant_id = own);
        end if;
    end if;
    for state in select unnest(array['scheduled', 'queued', 'blocked', 'running', 'dead_letter', 'failed', 'canceled']) loop
        at_least := false;
        oldest_seconds := null;
        open_letters := null;
        retrying := null;
        retrying_at_least := null;
        if state in ('failed', 'canceled', 'dead_letter') then
            if own is null then
                select count(*) into n from (select from {schema}.outcome o
                    where o.status = read_summary.state and o.status <> 'succeeded' limit p_most + 1) x;
            else
                select count(*) into n from (select from {schema}.outcome o
                    where o.tenant_id = own and o.status = read_summary.state and o.status <> 'succeeded' limit p_most + 1) x;
            end if;
            ended := ended + n;
            if state = 'dead_letter' then
                if own is null then
                    select count(*) into open_letters from (select from {schema}.dead_letter d limit p_most + 1) x;
                else
                    select count(*) into open_letters from (select from {schema}.dead_letter d where d.tenant_id = own limit p_most + 1) x;
                end if;
                n := n + open_letters;
            end if;
        else
            if state = 'queued' then
                select count(*) into tickets from (select from {schema}.ready t limit p_most + 1) x;
            elsif state = 'scheduled' then
                select count(*) into tickets from (select from {schema}.scheduled t limit p_most + 1) x;
            elsif state = 'blocked' then
                select count(*) into tickets from (select from {schema}.blocked t limit p_most + 1) x;
            else
                select count(*) into tickets from (select from {schema}.running t limit p_most + 1) x;
            end if;
            if own is null or tickets = 0 then
                n := tickets;
                if state = 'scheduled' then
                    select count(*) filter (where x.attempt > 1 and x.run_at > moment), count(*) >= look into retrying, retrying_at_least
                      from (select t.attempt, t.run_at from {schema}.scheduled t order by t.id desc limit look) x;
                end if;
            elsif cardinality(mine) < tickets then
                if state = 'queued' then
                    select count(*) into n from unnest(mine) as u(id) where exists (select from {schema}.ready t where t.id = u.id offset 0);
                elsif state = 'scheduled' then
                    select count(*), count(*) filter (where t.attempt > 1 and t.run_at > moment), false into n, retrying, retrying_at_least
                      from unnest(mine) as u(id) cross join lateral (select f.attempt, f.run_at from {schema}.scheduled f where f.id = u.id offset 0) t;
                elsif state = 'blocked' then
                    select count(*) into n from unnest(mine) as u(id) where exists (select from {schema}.blocked t where t.id = u.id offset 0);
                else
                    select count(*) into n from unnest(mine) as u(id) where exists (select from {schema}.running t where t.id = u.id offset 0);
                end if;
            elsif tickets > p_most then
                at_least := true;
                -- The limit at the end, too: a queue is not looked at where the ones before it are enough.
                if state = 'queued' then
                    select count(*) into n from (select from {schema}.queue q cross join lateral (
                        select from {schema}.ready t where t.queue = q.name and t.lane = own offset 0) x limit p_most + 1) y;
                elsif state = 'scheduled' then
                    select count(*) into n from (select from {schema}.queue q cross join lateral (
                        select from {schema}.scheduled t where t.queue = q.name and t.lane = own offset 0) x limit p_most + 1) y;
                    -- The latest of each queue: tries again come after the jobs that are due.
                    select count(*) filter (where y.attempt > 1 and y.run_at > moment), true into retrying, retrying_at_least
                      from (select x.attempt, x.run_at from {schema}.queue q cross join lateral (
                            select t.attempt, t.run_at from {schema}.scheduled t where t.queue = q.name and t.lane = own
                             order by t.run_at desc limit look) x limit look) y;
                else
                    n := 0;
                end if;
            elsif state = 'queued' then
                select count(*) into n from (select f.id from {schema}.ready f order by f.id limit p_most) t
                 where exists (select from {schema}.any_job j where j.id = t.id and j.tenant_id = own offset 0);
            elsif state = 'scheduled' then
                select count(*), count(*) filter (where t.attempt > 1 and t.run_at > moment), false into n, retrying, retrying_at_least
                  from (select f.id, f.attempt, f.run_at from {schema}.scheduled f order by f.id limit p_most) t
                 where exists (select from {schema}.any_job j where j.id = t.id and j.tenant_id = own offset 0);
            elsif state = 'blocked' then
                select count(*) into n from (select f.id from {schema}.blocked f order by f.id limit p_most) t
                 where exists (select from {schema}.any_job j where j.id = t.id and j.tenant_id = own offset 0);
            else
                select count(*) into n from (select f.id from {schema}.running f order by f.id limit p_most) t
                 where exists (select from {schema}.any_job j where j.id = t.id and j.tenant_id = own offset 0);
            end if;
            if state = 'queued' then
                oldest_seconds := extract(epoch from moment - {schema}.read_oldest(null, own));
            end if;
        end if;
        known := known + least(n, p_most);
        at_least := at_least or n > p_most;
        n := least(n, p_most);
        bounded := bounded or at_least;
        return next;
    end loop;
    state := 'succeeded';
    oldest_seconds := null;
    open_letters := null;
    retrying := null;
    retrying_at_least := null;
    if own is null and 10 * (p_most + ended) < (
        select sum(c.reltuples) from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = '{schema}.outcome'::regclass) then
        -- Counting as far as that takes longer than all the rest, where the last look of the vacuum leaves no doubt.
        n := p_most + 1;
        at_least := true;
    elsif not bounded then
        -- What is neither waiting nor running, nor ended otherwise, has succeeded.
        if own is null then
            select count(*) into n from (select from {schema}.job j limit p_most + 1 + known) x;
            select n + count(*) into n from (select from {schema}.job_kept k limit p_most + 1 + known) x;
        else
            select count(*) into n from (select from {schema}.job j where j.tenant_id = own limit p_most + 1 + known) x;
            select n + count(*) into n from (select from {schema}.job_kept k where k.tenant_id = own limit p_most + 1 + known) x;
        end if;
        n := greatest(n - known, 0);
        at_least := n > p_most;
    elsif own is null then
        -- Among the latest outcomes; an index tells which of them are no successes.
        tickets := p_most * 5 / 4;
        first := (select o.job_id from {schema}.outcome o order by o.job_id desc offset tickets - 1 limit 1);
        if first is null then
            first := '00000000-0000-0000-0000-000000000000';
            select count(*) into tickets from (select from {schema}.outcome o order by o.job_id limit p_most * 5 / 4) x;
        end if;
        select tickets - count(*) into n from {schema}.outcome o
         where o.status in ('failed', 'canceled', 'dead_letter') and o.status <> 'succeeded' and o.job_id >= first;
        at_least := true;
    else
        select count(*) into n from (select from (
            select o.status, o.tenant_id from {schema}.outcome o order by o.job_id desc limit p_most) x
             where x.status = 'succeeded' and x.tenant_id = own) y;
        n := greatest(n, bodies - known);
        at_least := true;
    end if;
    n := least(n, p_most);
    return next;
end
$$;

-- When jobs of a type were made.
create index rollup_hour_made on {schema}.rollup_hour (job_type, hour) where outcome = 'enqueued';

-- Where to look on below an id for jobs of these types: past the hours in which none of them was made within the scope. What
-- was made by the hour is counted for good down to the last but one, and kept for a while: before that nothing is known.
create function {schema}.read_made_below(p_types text[], p_below uuid) returns uuid
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
set plan_cache_mode = force_generic_plan as $$
declare
    own constant uuid := {schema}.scope_tenant();
    this timestamptz := date_bin('1 hour', {schema}.id_time(p_below), timestamptz '2000-01-01 00:00+00');
    known timestamptz;
    made timestamptz;
begin
    known := (select least(s.final_to, s.counted_to) - interval '2 hours' from {schema}.rollup_state s);
    if this is null or this > known then
        return p_below;
    end if;
    -- Of each tenant, since a tenant that came from another cell is in no row of all together.
    made := (select max(m.hour) from unnest(p_types) as u(name) cross join lateral (
                select h.hour from {schema}.rollup_hour h
                 where h.job_type = u.name and h.hour <= this and h.outcome = 'enqueued' and (own is null or h.tenant_id = own)
                 order by h.hour desc limit 1) m);
    made := coalesce(made, (select h.hour - interval '1 hour' from {schema}.rollup_hour h order by h.hour limit 1), this);
    return least(p_below, {schema}.id_at(made + interval '1 hour'));
end
$$;

-- When the jobs of a filter were made, in bars: of p_need + 1 at most. total: how many they are; complete: down to where
-- (NULL: to the end). Bars are as wide as makes 60 of them at most. Where each job that is met must be looked for in
-- several tables, fewer are looked at. All jobs of the scope are counted by their ids alone: what most pages ask for.
create function {schema}.read_matching_bars(p_filter jsonb, p_need integer default 10000, p_look integer default 10001)
returns table (total bigint, complete_to timestamptz, width double precision, bars jsonb)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off set enable_seqscan = off
set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
    own constant uuid := {schema}.scope_tenant();
    whole constant boolean := not p_filter ? 'states' and coalesce(jsonb_array_length(p_filter -> 'terms'), 0) = 0;
    dear constant boolean := jsonb_path_exists(p_filter, '$.terms[*] ? (@.field == "ran" || @.field == "attempt" || @.field == "worker"
        || @.field == "build" || @.field == "queue" || (@.field == "error" && @.not == true) || (@.field == "op" && @.not == true))')
        or (p_filter ? 'states' and own is not null and not p_filter -> 'states' <@ '["failed", "canceled", "dead_letter", "replayed"]');
    found_ones record;
    newest uuid;
    oldest uuid;                -- of those that are counted
    starts timestamptz[];
    ids uuid[];
begin
    if whole and own is null then
        newest := (select j.id from {schema}.any_job j order by j.id desc limit 1);
        oldest := (select j.id from {schema}.any_job j order by j.id desc offset p_need limit 1);
        complete_to := {schema}.id_time(oldest);
        oldest := coalesce(oldest, (select j.id from {schema}.any_job j order by j.id limit 1));
    elsif whole then
        newest := (select j.id from {schema}.any_job j where j.tenant_id = own order by j.id desc limit 1);
        oldest := (select j.id from {schema}.any_job j where j.tenant_id = own order by j.id desc offset p_need limit 1);
        complete_to := {schema}.id_time(oldest);
        oldest := coalesce(oldest, (select j.id from {schema}.any_job j where j.tenant_id = own order by j.id limit 1));
    else
        select w.ids, w.low into found_ones
          from {schema}.read_matching(p_filter, p_need => p_need + 1, p_look => case when dear then p_look / 4 else p_look end) w;
        total := cardinality(found_ones.ids);
        newest := found_ones.ids[1];
        oldest := found_ones.ids[total];
        complete_to := case when found_ones.low is not null then {schema}.id_time(found_ones.low)
                            when total > p_need then {schema}.id_time(oldest) end;
    end if;
    select coalesce(min(w), 604800) into width
      from unnest(array[1, 2, 5, 15, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 604800]::double precision[]) w
     where extract(epoch from {schema}.id_time(newest) - {schema}.id_time(oldest)) / w < 60;
    -- An id tells its moment, and comparing ids is quicker than reading it from each of them.
    starts := array(select generate_series(date_bin(width * interval '1 second', {schema}.id_time(oldest), timestamptz '2000-01-03 00:00+00'),
                                           {schema}.id_time(newest), width * interval '1 second') where newest is not null);
    ids := array(select {schema}.id_at(s) from unnest(starts) s);
    if whole and own is null then
        select coalesce(sum(b.n), 0), jsonb_agg(jsonb_build_array(extract(epoch from starts[b.place]), b.n) order by b.place) into total, bars
          from (select greatest(width_bucket(j.id, ids), 1) as place, count(*) as n from {schema}.any_job j where j.id >= oldest group by 1) b;
    elsif whole then
        select coalesce(sum(b.n), 0), jsonb_agg(jsonb_build_array(extract(epoch from starts[b.place]), b.n) order by b.place) into total, bars
          from (select greatest(width_bucket(j.id, ids), 1) as place, count(*) as n from {schema}.any_job j
                 where j.tenant_id = own and j.id >= oldest group by 1) b;
    else
        select jsonb_agg(jsonb_build_array(extract(epoch from starts[b.place]), b.n) order by b.place) into bars
          from (select greatest(width_bucket(u.id, ids), 1) as place, count(*) as n from unnest(found_ones.ids) as u(id) group by 1) b;
    end if;
    bars := coalesce(bars, '[]');
    return next;
end
$$;

-- What the page of one job shows beside its line (read_job_lines): facts of its body, its key, and its kin. Payload and
-- result are not in it.
create function {schema}.read_job_page(p_id uuid) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return (
    select jsonb_build_object(
        'project_id', j.project_id, 'request_id', j.request_id, 'traceparent', j.traceparent, 'expires_at', j.expires_at,
        'timeout_seconds', j.timeout_seconds, 'scheduled_for', j.scheduled_for, 'result_ref', o.result_ref, 'error_ref', o.error_ref,
        'has_result', o.result is not null, 'encrypted', j.payload ? '$encrypted', 'definition_id', d.id, 'version', d.version,
        'version_then', (select max(v.version) from {schema}.definition_version v where v.definition_id = d.id and v.at <= j.created_at),
        'runs', coalesce(r.run, o.run, x.run, w.run, s.run, b.run, 0),
        'lost', coalesce(r.lost, o.lost, x.lost, w.lost, s.lost, b.lost, 0),
        'lease_until', (select l.expires_at from {schema}.lease l where l.holder = r.holder),
        'event_id', case when j.source = 'event' then j.source_ref end,
        'cancel', (select jsonb_build_object('at', c.requested_at, 'by', coalesce(c.actor_id, c.actor_type), 'reason', c.reason)
                     from {schema}.cancel_request c where c.job_id = j.id),
        'key', (select jsonb_build_object('mode', k.mode, 'job_id', k.job_id, 'first_seen_at', k.first_seen_at,
                    'last_seen_at', k.last_seen_at, 'expires_at', k.expires_at) from {schema}.idempotency_key k
                 where k.tenant_id = j.tenant_id and k.key = j.idempotency_key
                   and k.project_id = coalesce(j.project_id, '00000000-0000-0000-0000-000000000000')),
        'replays', coalesce((select jsonb_agg(n.id order by n.id desc) from (
            (select f.id from {schema}.job f where f.replayed_from = j.id order by f.id desc limit 20)
            union all
            (select f.id from {schema}.job_kept f where f.replayed_from = j.id order by f.id desc limit 20)) n), '[]'),
        'in_workflow', j.workflow_id is not null, 'pinned', (select p.version from {schema}.pin p where p.job_id = j.id),
        'has_artifacts', exists (select from {schema}.artifact a where a.job_id = j.id and a.gone_at is null))
      from (select f.* from {schema}.any_job f where f.id = p_id offset 0) j
      left join {schema}.job_definition d on d.key = j.job_type
      left join lateral (select t.* from {schema}.ready t where t.id = j.id offset 0) w on true
      left join lateral (select t.* from {schema}.scheduled t where t.id = j.id offset 0) s on true
      left join lateral (select t.* from {schema}.blocked t where t.id = j.id offset 0) b on true
      left join lateral (select t.* from {schema}.running t where t.id = j.id offset 0) r on true
      left join lateral (select t.* from {schema}.dead_letter t where t.id = j.id offset 0) x on true
      left join lateral (select t.* from {schema}.outcome t where t.job_id = j.id offset 0) o on true);
end
$$;

-- Executions of a job, the latest first, below run p_below, with the first p_text characters of what they said and the last
-- p_tail of their output; how long each of these is.
create function {schema}.read_attempt_page(p_id uuid, p_below integer default 2147483647, p_most integer default 10,
    p_text integer default 70000, p_tail integer default 20000)
returns table (run integer, attempt integer, status text, worker_id text, pid integer, started_at timestamptz, finished_at timestamptz,
    exit_code integer, error_class text, error_code text, error_message text, error_status integer, error_group text, stack text,
    stdout_tail text, stderr_tail text, lengths integer[], build text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query
    with h as materialized (
        select a.run, a.attempt, a.status, a.holder, a.pid, a.started_at, a.finished_at, a.exit_code, a.error_class, a.error_code,
               a.error_message, a.error_status, a.error_group, a.stack, a.stdout_tail, a.stderr_tail
          from {schema}.attempt a where a.job_id = p_id and a.run < p_below
        union all
        select o.run, o.attempt, o.attempt_status, o.holder, o.pid, o.started_at, o.finished_at, o.exit_code, o.error_class,
               o.error_code, o.error_message, o.error_status, o.error_group, o.stack, o.stdout_tail, o.stderr_tail
          from {schema}.outcome o where o.job_id = p_id and o.holder is not null and o.run < p_below
        union all
        select r.run, r.attempt, 'running', r.holder, null, r.claimed_at, null, null, null, null, null, null, null, null, null, null
          from {schema}.running r where r.id = p_id and r.run < p_below and exists (select from {schema}.any_job j where j.id = p_id)
    ), page as (
        select h.* from h order by h.run desc limit p_most
    )
    select p.run, p.attempt, p.status, coalesce(w.worker_id, p.holder::text), coalesce(p.pid, w.pid), p.started_at, p.finished_at,
           p.exit_code, p.error_class, p.error_code, left(p.error_message, p_text), p.error_status, p.error_group,
           left(p.stack, p_text), right(p.stdout_tail, p_tail), right(p.stderr_tail, p_tail),
           array[length(p.error_message), length(p.stack), length(p.stdout_tail), length(p.stderr_tail)], w.build
      from page p left join {schema}.worker w on w.holder = p.holder
     order by p.run desc;
end
$$;

select {schema}.secure_requests();
