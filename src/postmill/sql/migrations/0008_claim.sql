-- postmill: safe
-- Which lanes have work, and the claim.
--
-- The functions of the hot path are planned once and never by a scan of a whole table: a custom plan at each call took
-- 0.3 to 0.4 ms with all partitions in it, and tables that were small at the first call grow. Claim 10.5 to 4.9 us a job.

-- Every (queue, lane, priority) with ready tickets: a loose index scan, one probe per lane (10,000 lanes take
-- 40-60 ms). Linear in dead index entries under a pinned horizon, hence callers pace it to 5 % of their time.
create function {schema}.discover_lanes(p_queues text[], p_most integer)
returns table (queue text, lane uuid, priority integer)
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
    return query
    with recursive step as (
        (select f.queue, f.lane, f.priority
           from unnest(p_queues) as q(name)
          cross join lateral (
             select r.queue, r.lane, r.priority from {schema}.ready r
              where r.queue = q.name order by r.queue, r.lane, r.priority limit 1) f)
        union all
        select f.queue, f.lane, f.priority
          from step s
         cross join lateral (
             select r.queue, r.lane, r.priority from {schema}.ready r
              where r.queue = s.queue and (r.lane, r.priority) > (s.lane, s.priority)
              order by r.queue, r.lane, r.priority limit 1) f
    )
    select s.queue, s.lane, s.priority from step s limit p_most;
end
$$;

-- Lanes of jobs made within the last p_back: cheap news between two discoveries.
create function {schema}.recent_lanes(p_queues text[], p_back interval, p_most integer)
returns table (queue text, lane uuid, priority integer)
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
    return query
    select distinct r.queue, r.lane, r.priority
      from (select t.queue, t.lane, t.priority from {schema}.ready t
             where t.id >= {schema}.id_at((select {schema}.now()) - p_back) order by t.id desc limit p_most) r
     where r.queue = any (p_queues);
end
$$;

-- Takes up to p_total tickets for one worker session, lane by lane in the order given, p_counts from each,
-- beginning at p_from (NULL: the true head). One statement: lock, move to running, read the bodies.
-- claim_no fences every later report. Nothing is claimed without a live lease or from a paused queue, and nothing here from one
-- with limits (claim_limited).
-- The commit is asynchronous: a lost claim is only a ticket that is still ready (296 against 100 us).
create function {schema}.claim(
    p_holder uuid, p_claim_no bigint, p_total integer, p_queues text[], p_lanes uuid[], p_priorities integer[],
    p_from timestamptz[], p_counts integer[], p_async boolean default true)
returns table (
    id uuid, slot integer, ready_at timestamptz, attempt integer, run integer, lost integer, job_type text,
    payload jsonb, tenant_id uuid, max_attempts integer, timeout_seconds double precision, expired boolean,
    created_at timestamptz, project_id uuid, actor_type text, actor_id text, request_id text, correlation_id text,
    traceparent text, idempotency_key text, scheduled_for timestamptz,
    claimed_at timestamptz, workflow_id uuid)
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
    if p_async then
        perform set_config('synchronous_commit', 'off', true);
    end if;
    return query
    with picked as materialized (
        select l.slot, q.*
          from unnest(p_queues, p_lanes, p_priorities, p_from, p_counts)
               with ordinality as l(queue, lane, priority, at, n, slot)
         cross join lateral (
             select r.ctid as tid, r.id, r.queue, r.lane, r.priority, r.ready_at, r.attempt, r.run, r.lost
               from {schema}.ready r
              where r.queue = l.queue and r.lane = l.lane and r.priority = l.priority
                and r.ready_at >= case when l.at is null then '-infinity'
                                        else least(l.at, (select {schema}.now()) - interval '250 ms') end
              order by r.ready_at, r.id
              limit l.n for update skip locked) q
         where exists (select from {schema}.lease e where e.holder = p_holder and e.expires_at > (select {schema}.now()))
           and not exists (select from {schema}.queue w where w.name = l.queue and (w.limited or w.paused_at is not null
                              and (w.resume_at is null or w.resume_at > (select {schema}.now()))))
         limit p_total
    ), gone as (
        delete from {schema}.ready r where r.ctid = any (array(select p.tid from picked p))
    ), begun as (
        insert into {schema}.running
               (id, holder, claim_no, queue, lane, priority, attempt, run, lost, claimed_at)
        select p.id, p_holder, p_claim_no, p.queue, p.lane, p.priority, p.attempt, p.run + 1, p.lost,
               (select {schema}.now())
          from picked p
    )
    select p.id, p.slot::integer, p.ready_at, p.attempt, p.run + 1, p.lost, j.job_type, j.payload, j.tenant_id,
           j.max_attempts, j.timeout_seconds, j.expires_at <= (select {schema}.now()), j.created_at, j.project_id,
           j.actor_type::text, j.actor_id, j.request_id, j.correlation_id, j.traceparent, j.idempotency_key, j.scheduled_for,
           (select {schema}.now()), j.workflow_id
      from picked p
      left join lateral (select * from {schema}.job b where b.id = p.id limit 1) j on true;
end
$$;

-- Gives back the tickets of claims whose answer never arrived: nobody runs them, and the lease lives on.
create function {schema}.release_claims(p_holder uuid, p_claim_nos bigint[])
returns table (id uuid, queue text, lane uuid, priority integer)
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
    rung record;
begin
    for rung in
        with held as materialized (
            select r.ctid as tid, r.* from {schema}.running r
             where r.holder = p_holder and r.claim_no = any (p_claim_nos) order by r.id for update skip locked
        ), gone as (
            delete from {schema}.running r where r.ctid = any (array(select h.tid from held h))
        ), freed as (
            delete from {schema}.seat s where s.seat_no = any (array(select h.seat_no from held h))
        ), put as (
            insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
            select h.queue, h.lane, h.priority, {schema}.now(), h.id, h.attempt, h.run - 1, h.lost from held h
        )
        select h.id, h.queue, h.lane, h.priority from held h
    loop
        id := rung.id; queue := rung.queue; lane := rung.lane; priority := rung.priority;
        return next;
    end loop;
    perform {schema}.tell_seat_waiters();
end
$$;
