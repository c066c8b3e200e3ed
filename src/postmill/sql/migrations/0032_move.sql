-- postmill: safe
-- Waiting jobs follow their job type into another queue. A job type that is registered with another queue takes only
-- its new jobs there; moving those that wait is an operator's act.

-- One batch: of the next p_most tickets by id after p_after (NULL: from the first) in each table of waiting tickets,
-- those of jobs of this type, or of an alias of it, that stand in another queue go to p_queue. looked_at is where the
-- next batch goes on, NULL after the last one. A ticket that somebody has locked stays: it is being claimed, promoted
-- or canceled. Deleted and inserted, never updated: a ticket's place is its key, and the claim finds it by that.
--
-- The lane is the one of the definition's rule of today. A key's lane stays: the ticket alone knows a key that the caller
-- named, and it cuts the same share in every queue. Only a limit wins over it, as at the enqueue.
--
-- A batch that moved something is in the audit log, with where its jobs stood before.
create function {schema}.door_move_jobs(
    p_job_type text, p_queue text, p_after uuid default null, p_most integer default 1000, p_actor_type text default null,
    p_actor_id text default null)
returns table (moved integer, looked_at uuid)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    definition {schema}.job_definition;
    low uuid := coalesce(p_after, '00000000-0000-0000-0000-000000000000');
    ids uuid[];
    lanes uuid[];
    rung record;
    rings integer := 0;
    before jsonb;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    moved := 0;
    select d.* into definition from {schema}.job_definition d where d.key = p_job_type;
    if not found or not {schema}.sees_all() or not exists (select from {schema}.queue q where q.name = p_queue) then
        return next;
        return;
    end if;

    with seen as materialized (
        select 1 as place, r.* from (select t.id, t.queue, t.lane from {schema}.ready t where t.id > low
                                      order by t.id limit p_most) r
        union all
        select 2, s.* from (select t.id, t.queue, t.lane from {schema}.scheduled t where t.id > low
                             order by t.id limit p_most) s
        union all
        select 3, b.* from (select t.id, t.queue, t.lane from {schema}.blocked t where t.id > low
                             order by t.id limit p_most) b
    ), mine as materialized (
        select s.id, s.queue,
               case when exists (select from {schema}.pin p where p.job_id = s.id) then s.lane
                    when coalesce(definition.limit_lane, definition.lane) like 'type%'
                      or s.lane in (j.tenant_id, '00000000-0000-0000-0000-000000000000',
                                    {schema}.lane_of('type', j.tenant_id, definition.key, j.payload, null))
                    then {schema}.home_lane(s.lane, j.job_type, {schema}.lane_of(
                             coalesce(definition.limit_lane, definition.lane), j.tenant_id, definition.key, j.payload, null))
                    else s.lane end as lane
          from seen s
         cross join lateral (select b.tenant_id, b.payload, b.job_type from {schema}.any_job b
                              where b.id = s.id and b.job_type = any (definition.key || definition.aliases) offset 0) j
         where s.queue <> p_queue
    ), held as materialized (
        select r.* from (select t.id from {schema}.ready t where t.id = any (array(select m.id from mine m))
                          order by t.id for update skip locked) r
        union all
        select s.* from (select t.id from {schema}.scheduled t where t.id = any (array(select m.id from mine m))
                          order by t.id for update skip locked) s
        union all
        select b.* from (select t.id from {schema}.blocked t where t.id = any (array(select m.id from mine m))
                          order by t.id for update skip locked) b
    )
    select (select array_agg(m.id order by m.id) from mine m join held h on h.id = m.id),
           (select array_agg(m.lane order by m.id) from mine m join held h on h.id = m.id),
           (select jsonb_object_agg(f.queue, f.n)
              from (select m.queue, count(*) as n from mine m join held h on h.id = m.id group by 1) f),
           (select min(f.last)::uuid from (select max(s.id::text) as last from seen s
                                            group by s.place having count(*) = p_most) f)
      into ids, lanes, before, looked_at;
    moved := coalesce(cardinality(ids), 0);
    if moved = 0 then
        return next;
        return;
    end if;

    with gone as (
        delete from {schema}.ready t where t.id = any (ids) returning t.id, t.priority, t.ready_at, t.attempt, t.run, t.lost
    )
    insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
    select p_queue, m.lane, g.priority, {schema}.now(), g.id, g.attempt, g.run, g.lost
      from gone g join unnest(ids, lanes) as m(id, lane) on m.id = g.id order by g.ready_at, g.id;
    with gone as (
        delete from {schema}.scheduled t where t.id = any (ids) returning t.id, t.priority, t.run_at, t.attempt, t.run, t.lost
    )
    insert into {schema}.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
    select p_queue, m.lane, g.run_at, g.id, g.priority, g.attempt, g.run, g.lost
      from gone g join unnest(ids, lanes) as m(id, lane) on m.id = g.id;
    with gone as (
        delete from {schema}.blocked t where t.id = any (ids) returning t.id, t.priority, t.attempt, t.run, t.lost
    )
    insert into {schema}.blocked (id, queue, lane, priority, attempt, run, lost)
    select g.id, p_queue, m.lane, g.priority, g.attempt, g.run, g.lost
      from gone g join unnest(ids, lanes) as m(id, lane) on m.id = g.id;

    for rung in select distinct r.lane, r.priority from {schema}.ready r where r.id = any (ids) limit 17 loop
        rings := rings + 1;
        if rings > 16 then
            perform {schema}.ring(p_queue);
        else
            perform {schema}.ring(p_queue, rung.lane, rung.priority);
        end if;
    end loop;
    perform {schema}.audit('queues.move', 'definition', definition.key, null, before, jsonb_build_object(p_queue, moved));
    return next;
end
$$;

-- Waiting jobs go to another queue, as move_jobs takes those of a type there: moved | unknown (not waiting, or out of scope)
-- | no_queue (there is none of that name).
create function {schema}.door_move_waiting(p_ids uuid[], p_queue text, p_reason text default null, p_actor_type text default null,
    p_actor_id text default null)
returns table (id uuid, status text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    one record;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    if not {schema}.sees_all() or not exists (select from {schema}.queue q where q.name = p_queue) then
        return query select distinct u.id, case when {schema}.sees_all() then 'no_queue' else 'unknown' end from unnest(p_ids) as u(id);
        return;
    end if;
    for one in
        with from_ready as (
            delete from {schema}.ready r where r.id = any (p_ids) returning r.*
        ), from_scheduled as (
            delete from {schema}.scheduled r where r.id = any (p_ids) returning r.*
        ), to_ready as (
            insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
            select p_queue, r.lane, r.priority, {schema}.now(), r.id, r.attempt, r.run, r.lost from from_ready r order by r.ready_at, r.id
            returning ready.id
        ), to_scheduled as (
            insert into {schema}.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
            select p_queue, r.lane, r.run_at, r.id, r.priority, r.attempt, r.run, r.lost from from_scheduled r returning scheduled.id
        )
        select u.id, coalesce(f.queue, s.queue) as queue, j.tenant_id
          from (select distinct unnest(p_ids) as id) u
          left join from_ready f on f.id = u.id left join from_scheduled s on s.id = u.id
          left join lateral (select b.tenant_id from {schema}.any_job b where b.id = u.id offset 0) j on true
    loop
        id := one.id;
        status := case when one.queue is null then 'unknown' else 'moved' end;
        if one.queue is not null then
            perform {schema}.audit('jobs.move', 'job', id::text, one.tenant_id, jsonb_build_object('queue', one.queue),
                                   jsonb_build_object('queue', p_queue), p_reason);
        end if;
        return next;
    end loop;
    perform {schema}.ring(p_queue);
end
$$;

-- The job type of this name or alias, active or not, and the queue that it belongs to.
create function {schema}.read_home(p_name text) returns table (key text, queue text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select d.key, d.queue from {schema}.job_definition d where d.key = p_name or d.aliases @> array[p_name]
     order by d.key <> p_name limit 1;
end
$$;

-- As in 0016: what came since.
do $do$
declare
    f regprocedure;
begin
    for f in select p.oid::regprocedure from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = '{schema}' loop
        execute format('revoke execute on function %s from public', f);
    end loop;
end
$do$;

-- What policies ask is open to all.
