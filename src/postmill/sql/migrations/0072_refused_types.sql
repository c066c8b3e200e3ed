-- postmill: safe
-- A worker that claims a job whose type it does not know puts it back into a lane of that type's own: of two builds, or of two
-- applications, on one queue only workers that know the type claim from there. A job that nobody has put back so has nothing here
-- and pays for nothing.

-- One row a type, however many of its jobs wait; it goes when none is left in these lanes.
create table {schema}.refused_type (
    job_type text collate "C" primary key,
    -- The first half of its lanes, and zeros.
    lane uuid not null,
    -- Who put one back last, and when, to the minute.
    worker_id text collate "C",
    refused_at timestamptz not null
);

-- Where a job of this type waits that was put back out of that lane: each lane has one of its own, so that tenants and keys go on
-- taking turns.
create function {schema}.refused_lane(p_job_type text, p_lane uuid) returns uuid
language plpgsql immutable parallel safe as $$
begin
    return (left(md5('refused:' || p_job_type), 16) || left(md5(p_lane::text), 16))::uuid;
end
$$;

-- Is it one of these? The first half is 18 characters of the text.
create function {schema}.is_refused_lane(p_lane uuid, p_job_type text) returns boolean
language plpgsql immutable parallel safe as $$
begin
    return left(p_lane::text, 18) = left({schema}.refused_lane(p_job_type, p_lane)::text, 18);
end
$$;

-- Where a job belongs that waits in p_lane and whose definition says p_home.
create function {schema}.home_lane(p_lane uuid, p_job_type text, p_home uuid) returns uuid
language plpgsql immutable parallel safe as $$
begin
    return case when {schema}.is_refused_lane(p_lane, p_job_type) then {schema}.refused_lane(p_job_type, p_home) else p_home end;
end
$$;

-- Those who sleep, serve this queue and know the type (p_code: run this code of it) are woken by name: its watchman need not
-- be one of them. HTTP workers share one ear.
create function {schema}.wake_knowing(p_queue text, p_job_type text, p_code text default null) returns void
language plpgsql volatile as $$
begin
    perform {schema}.tell('@' || f.who || ' ' || p_queue)
       from (select distinct case when h.holder is null then s.holder::text else '*' end as who
               from {schema}.sleeper s
               join {schema}.worker w on w.holder = s.holder and p_job_type = any (w.job_types)
                                     and (p_code is null or w.metadata -> 'definitions' ->> p_job_type = p_code)
               left join {schema}.http_session h on h.holder = s.holder
              where s.queue = p_queue and s.valid_until > (select {schema}.now()) limit 16) f;
end
$$;

-- A report: these tickets are of types that the worker does not know. They are ready again, at no cost of an attempt; who is
-- bound to a version, or was put back so before, stays in its lane. Answers the ids that it did not touch.
create function {schema}.refuse(p_holder uuid, p_ids uuid[], p_claim_nos bigint[], p_job_types text[]) returns setof uuid
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
    moment timestamptz := {schema}.now();
    missed uuid[];
    seats bigint[];
    queues text[];
    types text[];
    asked_to_end {schema}.cancel_request;
begin
    with asked as materialized (
        select u.* from unnest(p_ids, p_claim_nos, p_job_types) as u(id, claim_no, job_type)
    ), held as materialized (
        select r.ctid as tid, r.seat_no, r.queue, r.lane, r.priority, r.attempt, r.run, r.lost, a.*,
               exists (select from {schema}.pin p where p.job_id = a.id) as bound
          from asked a join {schema}.running r on r.id = a.id and r.claim_no = a.claim_no
         where r.holder = p_holder
         order by r.id for update of r
    ), gone as (
        delete from {schema}.running r where r.ctid = any (array(select h.tid from held h))
    ), again as (
        insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
        select h.queue, case when h.bound or {schema}.is_refused_lane(h.lane, h.job_type) then h.lane
                             else {schema}.refused_lane(h.job_type, h.lane) end,
               h.priority, {schema}.now(), h.id, h.attempt, h.run - 1, h.lost
          from held h
    ), known as (
        insert into {schema}.refused_type as f (job_type, lane, worker_id, refused_at)
        select h.job_type, (left(md5('refused:' || h.job_type), 16) || '0000000000000000')::uuid,
               (select w.worker_id from {schema}.worker w where w.holder = p_holder), moment
          from (select distinct i.job_type from held i where not i.bound) h order by h.job_type
        on conflict on constraint refused_type_pkey do update
           set worker_id = excluded.worker_id, refused_at = excluded.refused_at
         where f.worker_id is distinct from excluded.worker_id or f.refused_at < moment - interval '1 minute'
    )
    select array(select a.id from asked a where not exists (select from held h where h.id = a.id)),
           array(select h.seat_no from held h where h.seat_no is not null),
           array_agg(k.queue), array_agg(k.job_type)
      into missed, seats, queues, types
      from (select distinct h.queue, h.job_type from held h) k;
    if cardinality(seats) > 0 then
        perform {schema}.free_seats(seats);
    end if;
    for asked_to_end in select c.* from {schema}.cancel_request c
                         where c.job_id = any (p_ids) and c.job_id <> all (missed) order by c.job_id loop
        perform {schema}.cancel_jobs(array[asked_to_end.job_id], asked_to_end.actor_type, asked_to_end.actor_id,
                                     asked_to_end.reason);
    end loop;
    -- In a statement of its own, after the tickets are there: see ring.
    perform {schema}.wake_knowing(u.queue, u.job_type) from unnest(queues, types) as u(queue, job_type);
    return query select unnest(missed);
end
$$;

-- Types of which no ticket is left in such lanes, an hour after the last one was put back. What runs may come back there.
create function {schema}.sweep_refused_types() returns void
language plpgsql volatile set enable_seqscan = off as $$
begin
    delete from {schema}.refused_type f where f.job_type = any (array(
        select g.job_type from {schema}.refused_type g
         where g.refused_at < (select {schema}.now()) - interval '1 hour'
           and not exists (select from {schema}.queue q cross join lateral (
                               select from {schema}.ready r where r.queue = q.name and r.lane >= g.lane
                                  and r.lane <= (left(g.lane::text, 18) || '-ffff-ffffffffffff')::uuid
                                limit 1) t)
           and not exists (select from {schema}.queue q cross join lateral (
                               select from {schema}.scheduled s where s.queue = q.name and s.lane >= g.lane
                                  and s.lane <= (left(g.lane::text, 18) || '-ffff-ffffffffffff')::uuid
                                limit 1) t)
           and not exists (select from {schema}.running r where left(r.lane::text, 18) = left(g.lane::text, 18))
         for update skip locked));
end
$$;

select {schema}.secure_requests();
