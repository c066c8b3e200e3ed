-- postmill: safe
-- Bulk acts on all jobs that a query finds: how they are selected, what they do to tickets, and what they would meet.

-- A filter whose lengths of time (`ago`) are moments: what was meant when it was asked.
create function {schema}.at_moments(p_matching jsonb, p_moment timestamptz) returns jsonb
language plpgsql immutable as $$
begin
    return p_matching || jsonb_build_object('terms', (
        select coalesce(jsonb_agg(case when t.value ? 'ago'
                                       then t.value - 'ago' || jsonb_build_object('at',
                                            p_moment - (t.value ->> 'ago')::double precision * interval '1 s')
                                       else t.value end), '[]')
          from jsonb_array_elements(p_matching -> 'terms') t));
end
$$;

-- The next jobs of an operation that still selects: one stretch of the walk from the newest down. They are tried the oldest
-- first, or of each tenant one by one.
create function {schema}.select_items(p_id uuid, p_most integer) returns void
language plpgsql volatile as $$
declare
    op {schema}.operation;
    found_ones uuid[];
    lowest uuid;
    added integer;
    scope text := coalesce(current_setting('postmill.tenant_id', true), '');
begin
    select o.* into op from {schema}.operation o where o.id = p_id and o.stage = 'select' and o.status = 'running' for update;
    if not found then
        return;
    end if;
    -- A tenant's operation finds what the tenant sees, whoever carries it out.
    perform set_config('postmill.tenant_id', coalesce(op.tenant_id::text, scope), true);
    select m.ids, m.low into found_ones, lowest
      from {schema}.read_matching(op.matching, coalesce(op.select_below, 'ffffffff-ffff-ffff-ffff-ffffffffffff'), p_most, 4 * p_most) m;
    perform set_config('postmill.tenant_id', scope, true);
    if cardinality(found_ones) >= p_most then
        lowest := found_ones[cardinality(found_ones)];
    end if;
    with whose as materialized (
        select u.id, row_number() over (order by u.n) as n, j.tenant_id
          from unnest(found_ones) with ordinality as u(id, n)
         cross join lateral (select f.tenant_id from {schema}.any_job f where f.id = u.id offset 0) j
         where u.id < op.cut_off
    ), fresh as (
        select w.tenant_id, count(*)::integer as n from whose w where op.fair group by 1
    ), share as (
        insert into {schema}.operation_share as s select p_id, f.tenant_id, f.n from fresh f
        on conflict (operation_id, tenant_id) do update set n = s.n + excluded.n
        returning s.tenant_id, s.n
    )
    insert into {schema}.operation_item (operation_id, n, turn, job_id, tenant_id)
    select p_id, op.total + w.n,
           case when op.fair then s.n - f.n + row_number() over (partition by w.tenant_id order by w.n) else - (op.total + w.n) end,
           w.id, w.tenant_id
      from whose w left join share s on s.tenant_id = w.tenant_id left join fresh f on f.tenant_id = w.tenant_id;
    get diagnostics added = row_count;
    update {schema}.operation o set total = o.total + added, select_below = lowest where o.id = p_id;
    if lowest is null then
        perform {schema}.settle_selection(p_id);
    end if;
end
$$;

-- All are selected: on to the canary or the rest, or to whoever has to be asked first.
create function {schema}.settle_selection(p_id uuid) returns void
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
begin
    update {schema}.operation o
       set stage = case when o.canary > 0 and o.kind = 'replay' then 'canary' else 'rest' end,
           status = case when o.total = 0 then 'finished' when o.total > o.approve_above then 'proposed'
                         when o.held then 'paused' else o.status end,
           paused_at = case when o.held and o.total > 0 and not coalesce(o.total > o.approve_above, false) then moment end,
           pause_reason = case when o.held and o.total > 0 and not coalesce(o.total > o.approve_above, false)
                               then format('counted: %s jobs match', o.total) end,
           ended_at = case when o.total = 0 then moment end
     where o.id = p_id;
end
$$;

-- Jobs that wait get another queue, or another moment at which they are due; as with a new priority, each ticket is taken
-- out and put in anew. changed | unchanged (it is in that queue) | blocked (waits for parents: it is due when they are
-- done) | running | finished | contended (just being claimed: try again) | unknown.
create function {schema}.place_jobs(p_action text, p_ids uuid[], p_queue text, p_run_at timestamptz, p_reason text)
returns table (id uuid, status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment timestamptz := {schema}.now();
    one record;
    rung record;
    rings integer := 0;
begin
    for one in
        with before as materialized (select s.* from {schema}.stands(p_ids) s), waits as materialized (
            select b.id from before b where b.state in ('queued', 'scheduled', 'blocked')
        ), now_ready as materialized (
            select r.ctid as tid from {schema}.ready r
             where r.id = any (array(select w.id from waits w)) and r.queue is distinct from p_queue order by r.id for update skip locked
        ), later as materialized (
            select r.ctid as tid from {schema}.scheduled r
             where r.id = any (array(select w.id from waits w)) and r.queue is distinct from p_queue order by r.id for update skip locked
        ), parents as materialized (
            select r.ctid as tid from {schema}.blocked r
             where r.id = any (array(select w.id from waits w)) and p_queue is not null and r.queue <> p_queue
             order by r.id for update skip locked
        ), from_ready as (
            delete from {schema}.ready r where r.ctid = any (array(select t.tid from now_ready t)) returning r.*
        ), from_scheduled as (
            delete from {schema}.scheduled r where r.ctid = any (array(select t.tid from later t)) returning r.*
        ), from_blocked as (
            delete from {schema}.blocked r where r.ctid = any (array(select t.tid from parents t)) returning r.*
        ), taken as (
            select r.id, r.queue, r.lane, r.priority, r.attempt, r.run, r.lost, r.ready_at as was_due, p_run_at as due from from_ready r
            union all
            select s.id, s.queue, s.lane, s.priority, s.attempt, s.run, s.lost, s.run_at, coalesce(p_run_at, s.run_at) from from_scheduled s
        ), to_ready as (
            insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
            select coalesce(p_queue, t.queue), t.lane, t.priority, moment, t.id, t.attempt, t.run, t.lost
              from taken t where coalesce(t.due, moment) <= moment order by t.was_due, t.id
        ), to_scheduled as (
            insert into {schema}.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
            select coalesce(p_queue, t.queue), t.lane, t.due, t.id, t.priority, t.attempt, t.run, t.lost
              from taken t where t.due > moment
        ), to_blocked as (
            insert into {schema}.blocked (id, queue, lane, priority, attempt, run, lost)
            select r.id, p_queue, r.lane, r.priority, r.attempt, r.run, r.lost from from_blocked r
        ), put as (
            select t.id, t.queue, t.was_due from taken t union all select r.id, r.queue, null from from_blocked r
        )
        select u.id, b.tenant_id, p.queue, p.was_due,
               case when b.id is null then 'unknown' when p.id is not null then 'changed' when b.state = 'running' then 'running'
                    when b.state not in ('queued', 'scheduled', 'blocked') then 'finished'
                    when b.state = 'blocked' and p_queue is null then 'blocked'
                    when exists (select from {schema}.ready r where r.id = b.id and r.queue = p_queue offset 0)
                      or exists (select from {schema}.scheduled r where r.id = b.id and r.queue = p_queue offset 0)
                      or exists (select from {schema}.blocked r where r.id = b.id and r.queue = p_queue offset 0) then 'unchanged'
                    else 'contended' end as status
          from (select distinct unnest(p_ids) as id) u left join before b on b.id = u.id left join put p on p.id = u.id
    loop
        id := one.id;
        status := one.status;
        if status = 'changed' then
            perform {schema}.audit(p_action, 'job', id::text, one.tenant_id,
                case when p_queue is null then jsonb_build_object('due_at', one.was_due) else jsonb_build_object('queue', one.queue) end,
                case when p_queue is null then jsonb_build_object('due_at', p_run_at) else jsonb_build_object('queue', p_queue) end, p_reason);
        end if;
        return next;
    end loop;
    for rung in select distinct r.queue, r.lane, r.priority from {schema}.ready r where r.id = any (p_ids) and r.ready_at >= moment limit 16 loop
        perform {schema}.ring(rung.queue, rung.lane, rung.priority);
    end loop;
end
$$;

-- Queues are the platform's: to a tenant no job of this kind is known.
create function {schema}.door_move_jobs(p_ids uuid[], p_queue text, p_reason text default null, p_actor_type text default null,
    p_actor_id text default null)
returns table (id uuid, status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    if not {schema}.sees_all() or not exists (select from {schema}.queue q where q.name = p_queue) then
        return query select distinct u.id, 'unknown' from unnest(p_ids) as u(id);
        return;
    end if;
    return query select p.* from {schema}.place_jobs('jobs.move', p_ids, p_queue, null, p_reason) p;
end
$$;

-- p_run_at: not before; one that has passed is now.
create function {schema}.door_schedule_jobs(p_ids uuid[], p_run_at timestamptz, p_reason text default null,
    p_actor_type text default null, p_actor_id text default null)
returns table (id uuid, status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    return query select p.* from {schema}.place_jobs('jobs.run_at', p_ids, null, p_run_at, p_reason) p;
end
$$;

-- What a bulk act on the jobs that p_matching finds below p_cut_off would meet. They are counted up to p_most or for a
-- second (`complete`: to the end); the rest is told of the newest p_sample of them. `fit`: those that the act can touch; a
-- dead letter that was replayed already is in none of its states, but `replayed`.
create function {schema}.read_operation_preview(p_kind text, p_matching jsonb, p_cut_off uuid default null, p_most integer default 100000,
    p_sample integer default 10000) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
    began timestamptz := {schema}.now();
    cut uuid := least(coalesce(p_cut_off, 'ffffffff-ffff-ffff-ffff-ffffffffffff'), {schema}.new_id());
    below uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
    step uuid[];
    lowest uuid;
    ids uuid[] := '{}';
    done boolean := false;
    answer jsonb;
begin
    loop
        select m.ids, m.low into step, lowest from {schema}.read_matching(p_matching, below, 5000, 20000) m;
        ids := ids || array(select u.id from unnest(step) as u(id) where u.id < cut);
        below := case when cardinality(step) >= 5000 then step[cardinality(step)] else lowest end;
        done := below is null;
        exit when done or cardinality(ids) >= p_most or {schema}.now() > began + interval '1 s';
    end loop;
    with f as materialized (
        select j.*, d.version as version_now, d.replay_class, d.is_active, d.budget, d.key is null as unknown_type,
               coalesce((select p.version from {schema}.pin p where p.job_id = j.id),
                        (select max(v.version) from {schema}.definition_version v where v.definition_id = d.id and v.at <= j.created_at),
                        d.version) as version_then,
               case p_kind when 'replay' then j.state in ('dead_letter', 'failed', 'canceled')
                           when 'retry' then j.state in ('scheduled', 'dead_letter', 'failed', 'canceled')
                           when 'cancel' then j.state in ('scheduled', 'queued', 'blocked', 'running')
                           when 'discard' then j.state = 'dead_letter'
                           when 'tag' then true
                           when 'run_at' then j.state in ('scheduled', 'queued')
                           else j.state in ('scheduled', 'queued', 'blocked') end as fits
          from (select b.id, b.tenant_id, b.project_id, b.job_type, b.created_at, b.expires_at, b.idempotency_key,
                       jsonb_hash_extended(b.payload, hashtextextended(b.job_type, 0)) as print,
                       coalesce(w.queue, s.queue, k.queue, r.queue, x.queue, b.queue) as queue,
                       case when w.id is not null then 'queued' when s.id is not null then 'scheduled' when k.id is not null then 'blocked'
                            when r.id is not null then 'running' when x.id is not null then 'dead_letter'
                            when o.status = 'dead_letter' then 'replayed' else o.status end as state,
                       coalesce(x.error_class, o.error_class) as error_class, coalesce(x.error_group, o.error_group) as error_group
                  from unnest(ids[:p_sample]) as u(id)
                 cross join lateral (select t.* from {schema}.any_job t where t.id = u.id offset 0) b
                  left join lateral (select t.id, t.queue from {schema}.ready t where t.id = u.id offset 0) w on true
                  left join lateral (select t.id, t.queue from {schema}.scheduled t where t.id = u.id offset 0) s on true
                  left join lateral (select t.id, t.queue from {schema}.blocked t where t.id = u.id offset 0) k on true
                  left join lateral (select t.id, t.queue from {schema}.running t where t.id = u.id offset 0) r on true
                  left join lateral (select t.id, t.queue, t.error_class, t.error_group from {schema}.dead_letter t
                                      where t.id = u.id offset 0) x on true
                  left join lateral (select t.status, t.error_class, t.error_group from {schema}.outcome t
                                      where t.job_id = u.id offset 0) o on true) j
          left join {schema}.job_definition d on d.key = j.job_type
    ), fresh as materialized (
        -- Later jobs that do the same: of the newest 20,000, as the replay itself looks for them.
        select n.id, n.tenant_id, n.replayed_from, jsonb_hash_extended(n.payload, hashtextextended(n.job_type, 0)) as print
          from (select j.* from {schema}.job j where p_kind = 'replay' and j.id > ids[least(cardinality(ids), p_sample)]
                 order by j.id desc limit 20000) n
    ), since as (
        select f.id from f join fresh n on n.tenant_id = f.tenant_id and n.print = f.print and n.id > f.id
         where n.replayed_from is distinct from f.id
           and exists (select from {schema}.outcome o where o.job_id = n.id and o.status = 'succeeded' offset 0)
        union
        select f.id from f join {schema}.idempotency_key k on k.tenant_id = f.tenant_id and k.key = f.idempotency_key
               and k.project_id = coalesce(f.project_id, '00000000-0000-0000-0000-000000000000') and k.job_id > f.id
         where p_kind = 'replay'
           and exists (select from {schema}.outcome o where o.job_id = k.job_id and o.status = 'succeeded' offset 0)
           and not exists (select from {schema}.any_job j where j.id = k.job_id and j.replayed_from = f.id offset 0)
    ), failed_of as materialized (
        -- Which build failed them last: of the newest 1,000. Who runs jobs is the platform's to see.
        select w.build, count(*) as n
          from (select f.id from f where p_kind in ('replay', 'retry') and {schema}.sees_all() order by f.id desc limit 1000) l
         cross join lateral (select a.holder from {schema}.attempt a where a.job_id = l.id order by a.run desc limit 1) a
          join {schema}.worker w on w.holder = a.holder
         where w.build is not null group by 1
    ), runs_now as (
        select w.build, count(*) as n from {schema}.worker w join {schema}.lease l on l.holder = w.holder
         where l.expires_at > began and w.build is not null and exists (select from failed_of)
           and w.job_types && array(select distinct f.job_type from f) group by 1
    ), versions as materialized (
        select x.*, x.code <> '' and {schema}.code_workers(x.job_type, x.code) = 0 as unserved
          from (select v.job_type, v.version, {schema}.version_code(v.job_type, v.version) as code
                  from (select distinct f.job_type, f.version_then as version from f where p_kind = 'replay' and not f.unknown_type) v) x
    )
    select jsonb_build_object(
        'count', cardinality(ids), 'complete', done, 'cut_off', cut, 'looked_at', (select count(*) from f),
        'fit', (select count(*) from f where f.fits),
        'groups', coalesce((select jsonb_agg(to_jsonb(g)) from (
            select f.fits, f.state, f.replay_class, coalesce(f.unknown_type or not f.is_active, true) as gone,
                   exists (select from since s where s.id = f.id) as done_since,
                   coalesce(f.version_then <> f.version_now, false) as changed,
                   exists (select from versions v where v.job_type = f.job_type and v.version = f.version_then and v.code is null) as version_gone,
                   count(*) as count from f group by 1, 2, 3, 4, 5, 6, 7) g), '[]'),
        'tenants', (select count(distinct f.tenant_id) from f), 'oldest', (select min(f.created_at) from f),
        'newest', (select max(f.created_at) from f),
        'by_tenant', coalesce((select jsonb_agg(jsonb_build_object('name', coalesce(t.slug, g.tenant_id::text), 'count', g.n)
                order by g.n desc, t.slug)
              from (select f.tenant_id, count(*) as n from f group by 1 order by 2 desc limit 20) g
              left join {schema}.tenant t on t.id = g.tenant_id), '[]'),
        'by_type', coalesce((select jsonb_agg(jsonb_build_object('job_type', g.job_type, 'version', g.version_then, 'now', g.version_now,
                'replay_class', g.replay_class, 'state', case when g.unknown_type then 'unknown_type' when not g.is_active then 'inactive'
                when g.version_then <> g.version_now then 'changed' else 'current' end, 'count', g.n) order by g.n desc, g.job_type, g.version_then)
              from (select f.job_type, f.version_then, f.version_now, f.replay_class, f.unknown_type, f.is_active, count(*) as n from f
                     group by 1, 2, 3, 4, 5, 6 order by 7 desc limit 20) g), '[]'),
        'by_error', coalesce((select jsonb_agg(jsonb_build_object('error_class', g.error_class, 'error_group', g.error_group, 'count', g.n)
                order by g.n desc, g.error_class)
              from (select f.error_class, f.error_group, count(*) as n from f where f.error_class is not null
                     group by 1, 2 order by 3 desc limit 20) g), '[]'),
        'by_age', (select jsonb_agg(jsonb_build_object('name', a.name, 'count',
                (select count(*) from f where f.created_at <= began - a.low and f.created_at > began - a.high)) order by a.low)
              from (values ('1h', interval '0', interval '1 hour'), ('24h', '1 hour', '24 hours'), ('7d', '24 hours', '7 days'),
                           ('older', '7 days', '1000 years')) as a(name, low, high)),
        'by_state', coalesce((select jsonb_agg(jsonb_build_object('name', g.state, 'count', g.n) order by g.n desc, g.state)
              from (select f.state, count(*) as n from f group by 1) g), '[]'),
        'by_build', coalesce((select jsonb_agg(jsonb_build_object('name', b.build, 'count', b.n) order by b.n desc, b.build)
              from failed_of b), '[]'),
        'builds_now', coalesce((select jsonb_agg(jsonb_build_object('name', b.build, 'count', b.n) order by b.n desc, b.build)
              from runs_now b), '[]'),
        'never', (select count(*) from f where f.replay_class = 'never'),
        'ask', (select count(*) from f where f.replay_class = 'ask'),
        'succeeded_since', (select count(*) from since),
        'past_deadline', (select count(*) from f where f.expires_at <= began),
        'version_changed', (select count(*) from f where f.version_then <> f.version_now),
        'version_gone', (select count(*) from f join versions v on v.job_type = f.job_type and v.version = f.version_then
                          where v.code is null),
        'version_unserved', coalesce((select jsonb_agg(jsonb_build_object('name', g.job_type || ' v' || g.version, 'count', g.n)
                order by g.n desc, g.job_type, g.version)
              from (select v.job_type, v.version, count(*) as n from f join versions v on v.job_type = f.job_type
                       and v.version = f.version_then where v.unserved group by 1, 2 order by 3 desc limit 20) g), '[]'),
        'gone', (select count(*) from f where f.unknown_type or not f.is_active),
        'paused_queues', coalesce((select jsonb_agg(jsonb_build_object('name', g.queue, 'count', g.n) order by g.n desc, g.queue)
              from (select f.queue, count(*) as n from f group by 1) g join {schema}.queue q on q.name = g.queue
             where q.paused_at is not null and (q.resume_at is null or q.resume_at > began)), '[]'),
        'over_budget', coalesce((select jsonb_agg(jsonb_build_object('name', coalesce(t.slug, g.tenant_id::text), 'count', g.n)
                order by g.n desc, t.slug)
              from (select f.tenant_id, f.budget, count(*) as n from f where f.budget is not null group by 1, 2 order by 3 desc limit 200) g
             cross join lateral {schema}.budget_word(g.budget, g.tenant_id) y
              left join {schema}.tenant t on t.id = g.tenant_id
             where y.action in ('defer', 'stop')), '[]'))
      into answer;
    return answer;
end
$$;

-- What was wrong and is over, the latest first: causes of failures for which jobs were given up, whose incident ended in the last
-- hour, of which no dead letter is open, which have not happened since, and of which nobody has said anything yet. fresh: first
-- seen in that hour. operation: the last one that replayed some of them; done: how many; of its last p_look new jobs (looked)
-- how many succeeded, and how many have not ended yet.
create function {schema}.read_all_clear(p_most integer default 5, p_look integer default 1000)
returns table (error_group text, job_type text, error_class text, fresh boolean, over_at timestamptz, failed_at timestamptz,
    jobs bigint, operation uuid, done integer, looked bigint, succeeded bigint, waiting bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    moment timestamptz := {schema}.now();
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select e.id, e.job_type, e.error_class, e.first_seen_at > moment - interval '1 hour', o.at, e.last_seen_at, o.jobs,
           p.id, p.done, r.looked, r.succeeded, r.waiting
      from (select i.facts ->> 'group' as cause, max(i.resolved_at) as at, sum(i.jobs)::bigint as jobs from {schema}.incident i
             where i.kind = 'job_exhausted' and i.resolved_at > moment - interval '1 hour' group by 1) o
      join {schema}.error_group e on e.id = o.cause
      left join lateral (
        select q.id, q.done from {schema}.operation q
         where q.kind in ('replay', 'retry') and q.id >= {schema}.id_at(moment - interval '6 hours') and q.done > 0
           and exists (select from {schema}.operation_item t join {schema}.outcome x on x.job_id = t.job_id
                        where t.operation_id = q.id and t.n <= 3 and x.error_group = o.cause)
         order by q.id desc limit 1) p on true
      left join lateral (
        select count(*) as looked, count(*) filter (where s.status = 'succeeded') as succeeded,
               count(*) filter (where s.status is null
                   and not exists (select from {schema}.dead_letter d where d.id = l.new_id)) as waiting
          from (select t.new_id from {schema}.operation_item t
                 where t.operation_id = p.id and t.status = 'replayed' order by t.at desc limit p_look) l
          left join lateral (select x.status from {schema}.outcome x where x.job_id = l.new_id offset 0) s on true) r
        on p.id is not null
     where {schema}.error_status(e, e.first_seen_at, moment) in ('new', 'ongoing', 'regressed') and e.last_seen_at <= o.at
       and not exists (select from {schema}.incident i
                        where i.kind = 'job_exhausted' and i.resolved_at is null and i.facts ->> 'group' = o.cause)
       and coalesce((select sum(y.opened - y.closed) from {schema}.dead_tally y where y.error_group = o.cause), 0) <= 0
     order by o.at desc limit p_most;
end
$$;
