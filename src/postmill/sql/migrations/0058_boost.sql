-- postmill: safe
-- Jobs that have waited for long rise: by boost_step for every boost_after seconds that they have been ready, up to
-- boost_to (a lower number is more urgent). Only in queues that ask for it.

-- A job that was raised, and what from. While it waits there, ended_at is NULL; a row is kept for a week after that.
create table {schema}.boost (
    job_id uuid primary key,
    tenant_id uuid not null,
    queue text collate "C" not null,
    lane uuid not null,
    from_priority integer not null,
    priority integer not null,
    ready_at timestamptz not null,
    raised_at timestamptz not null,
    ended_at timestamptz
) with (fillfactor = 80);
create index boost_waiting on {schema}.boost (queue, lane) where ended_at is null;
create index boost_ended on {schema}.boost (ended_at) where ended_at is not null;
insert into {schema}.upkeep (name) values ('boost');

-- Lanes of one queue, from p_lane on, with tickets or with jobs that were raised.
create function {schema}.boosted_lanes(p_queue text, p_lane uuid, p_most integer) returns uuid[]
language plpgsql volatile set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
    return array(
        with recursive step as (
            select least((select r.lane from {schema}.ready r where r.queue = p_queue and r.lane >= p_lane
                           order by r.queue, r.lane limit 1),
                         (select b.lane from {schema}.boost b where b.queue = p_queue and b.ended_at is null and b.lane >= p_lane
                           order by b.queue, b.lane limit 1)) as lane
            union all
            select least((select r.lane from {schema}.ready r where r.queue = p_queue and r.lane > s.lane
                           order by r.queue, r.lane limit 1),
                         (select b.lane from {schema}.boost b where b.queue = p_queue and b.ended_at is null and b.lane > s.lane
                           order by b.queue, b.lane limit 1))
              from step s where s.lane is not null
        )
        select s.lane from step s where s.lane is not null limit p_most);
end
$$;

-- Raises what is due in these lanes, the oldest first; p_window: so many of a lane are raised and wait at the same time, and
-- more follow as those start. So the work of a round, and what it passes over, is bounded whatever has piled up. What rises
-- keeps its place by ready_at: within a priority the order stays that of due times. Answers how many, and since when the
-- oldest of them has waited.
create function {schema}.raise_lanes(p_queue text, p_lanes uuid[], p_after double precision, p_step integer, p_to integer,
    p_window integer, p_most integer, out n integer, out oldest timestamptz, out sample jsonb)
language plpgsql volatile set enable_seqscan = off set plan_cache_mode = force_custom_plan as $$
declare
    moment constant timestamptz := {schema}.now();
    due constant timestamptz := moment - p_after * interval '1 second';
begin
    -- What has left its place: it started, was canceled, or an operator gave it another priority or queue.
    update {schema}.boost b set ended_at = moment
     where b.queue = p_queue and b.lane = any (p_lanes) and b.ended_at is null
       and not exists (select from {schema}.ready r where r.id = b.job_id and r.queue = b.queue and r.lane = b.lane
                          and r.priority = b.priority);
    with recursive levels as (
        select l.lane, f.priority from unnest(p_lanes) as l(lane) cross join lateral (
            select r.priority from {schema}.ready r where r.queue = p_queue and r.lane = l.lane and r.priority > p_to
             order by r.priority limit 1) f
        union all
        select s.lane, f.priority from levels s cross join lateral (
            select r.priority from {schema}.ready r where r.queue = p_queue and r.lane = s.lane and r.priority > s.priority
             order by r.priority limit 1) f
    ), busy as materialized (
        select b.lane, count(*) as n from {schema}.boost b
         where b.queue = p_queue and b.lane = any (p_lanes) and b.ended_at is null group by 1
    ), fresh as materialized (
        select x.* from (
            select f.id, f.lane, f.priority, f.ready_at, row_number() over (partition by l.lane order by f.ready_at, f.id) as place
              from (select v.* from levels v limit 10000) l cross join lateral (
                select r.id, r.lane, r.priority, r.ready_at from {schema}.ready r
                 where r.queue = p_queue and r.lane = l.lane and r.priority = l.priority and r.ready_at <= due
                   and not exists (select from {schema}.boost b where b.job_id = r.id and b.ended_at is null)
                 order by r.ready_at, r.id limit p_window) f) x
          left join busy y on y.lane = x.lane
         where x.place <= p_window - coalesce(y.n, 0)
         order by x.ready_at, x.id limit p_most
    ), higher as materialized (
        select o.id, o.base, o.priority, {schema}.boosted_to(o.base, moment - o.ready_at, p_after, p_step, p_to) as target
          from (select f.id, f.priority as base, f.priority, f.ready_at from fresh f
                union all
                select b.job_id, b.from_priority, b.priority, b.ready_at from {schema}.boost b
                 where b.queue = p_queue and b.lane = any (p_lanes) and b.ended_at is null) o
         where {schema}.boosted_to(o.base, moment - o.ready_at, p_after, p_step, p_to) < o.priority
         order by o.ready_at, o.id limit p_most
    ), locked as materialized (
        select r.ctid as tid, r.*, h.base, h.target from {schema}.ready r join higher h on h.id = r.id
         where r.id = any (array(select i.id from higher i)) and r.queue = p_queue and r.priority = h.priority
         order by r.id for update of r skip locked
    ), gone as (
        delete from {schema}.ready r where r.ctid = any (array(select k.tid from locked k)) returning r.*
    ), put as (
        insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
        select g.queue, g.lane, k.target, g.ready_at, g.id, g.attempt, g.run, g.lost from gone g join locked k on k.id = g.id
    ), noted as (
        insert into {schema}.boost as b (job_id, tenant_id, queue, lane, from_priority, priority, ready_at, raised_at)
        select k.id, j.tenant_id, k.queue, k.lane, k.base, k.target, k.ready_at, moment
          from locked k cross join lateral (select f.tenant_id from {schema}.any_job f where f.id = k.id offset 0) j
         order by k.id
        on conflict (job_id) do update
           set queue = excluded.queue, lane = excluded.lane, from_priority = excluded.from_priority, priority = excluded.priority,
               ready_at = excluded.ready_at, raised_at = excluded.raised_at, ended_at = null
    )
    select count(*)::integer, min(k.ready_at),
           jsonb_agg(jsonb_build_object('id', k.id, 'from', k.priority, 'to', k.target) order by k.ready_at, k.id)
             filter (where k.place <= 20)
      into n, oldest, sample
      from (select c.*, row_number() over (order by c.ready_at, c.id) as place from locked c) k;
end
$$;

-- Where a job has risen to that began with this priority and has been ready for so long.
create function {schema}.boosted_to(p_base integer, p_waited interval, p_after double precision, p_step integer, p_to integer)
returns integer
language plpgsql immutable parallel safe as $$
begin
    return least(p_base, greatest(p_to::double precision, p_base - p_step * floor(extract(epoch from p_waited) / p_after)));
end
$$;

-- One round, from that lane of that queue on (NULL: from the beginning): of at most p_lanes lanes, two at least, and p_most
-- jobs. A line of the log for each queue. next_queue and next_lane: where the next round begins; NULL: all was looked at.
create function {schema}.boost_round(p_queue text, p_lane uuid, p_lanes integer, p_window integer, p_most integer)
returns table (queue text, raised integer, next_queue text, next_lane uuid)
language plpgsql volatile as $$
declare
    moment constant timestamptz := {schema}.now();
    q record;
    part uuid[];
    since uuid;
    done record;
    left_lanes integer := p_lanes;
    left_jobs integer := p_most;
begin
    perform {schema}.set_actor('upkeep', 'system', 'boost');
    for q in
        select u.* from {schema}.queue u
         where u.boost_after_seconds is not null and u.name >= coalesce(p_queue, '')
           and (u.paused_at is null or u.resume_at <= moment) order by u.name
    loop
        since := case when q.name = p_queue then p_lane else '00000000-0000-0000-0000-000000000000' end;
        part := {schema}.boosted_lanes(q.name, since, left_lanes);
        select * into done from {schema}.raise_lanes(q.name, part, q.boost_after_seconds, q.boost_step, q.boost_to, p_window,
                                                     left_jobs);
        if done.n > 0 then
            perform {schema}.audit('queues.boost', 'queue', q.name, null, null,
                jsonb_build_object('raised', done.n, 'waiting_since', done.oldest, 'first', done.sample));
        end if;
        left_jobs := left_jobs - done.n;
        queue := q.name; raised := done.n; next_queue := null; next_lane := null;
        if left_jobs <= 0 then
            next_queue := q.name; next_lane := since;  -- there is more in the same lanes
        elsif cardinality(part) >= left_lanes then
            next_queue := q.name; next_lane := part[cardinality(part)];
        end if;
        return next;
        exit when next_queue is not null;
        left_lanes := greatest(2, left_lanes - cardinality(part));
    end loop;
    update {schema}.boost b set ended_at = moment
     where b.ended_at is null
       and not exists (select from {schema}.queue u where u.name = b.queue and u.boost_after_seconds is not null);
    delete from {schema}.boost b where b.job_id = any (array(
        select o.job_id from {schema}.boost o where o.ended_at < moment - interval '7 days' limit p_most));
end
$$;

-- How a job has risen: from which priority to which, when, and since when it had waited. Nothing: it has not.
create function {schema}.read_boost(p_id uuid)
returns table (from_priority integer, priority integer, raised_at timestamptz, waiting_since timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select b.from_priority, b.priority, b.raised_at, b.ready_at from {schema}.boost b
     where b.job_id = p_id and {schema}.in_scope(b.tenant_id);
end
$$;

-- How jobs of a queue rise by waiting, and how many have and wait still (at most 10,000 are counted): the platform's to see.
create function {schema}.read_queue_boost(p_name text)
returns table (after_seconds double precision, step integer, up_to integer, raised bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
begin
    if not {schema}.sees_all() then
        return;
    end if;
    return query
    select q.boost_after_seconds, q.boost_step, q.boost_to,
           (select count(*) from (select from {schema}.boost b where b.queue = q.name and b.ended_at is null limit 10000) x)
      from {schema}.queue q where q.name = p_name and q.boost_after_seconds is not null;
end
$$;

select {schema}.secure_requests();
