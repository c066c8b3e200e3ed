-- postmill: safe
-- Reports of a worker session, one function per verb, set-based and fenced by (job, holder, claim_no). Each locks
-- its tickets in the order of their ids first and answers the ids that it did not touch.

-- History must have a partition for the moment of the report, however long the database was left alone.
create function {schema}.history_moment() returns timestamptz
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
begin
    if not exists (select from {schema}.partition_horizon h where moment >= h.since and moment < h.until) then
        perform {schema}.ensure_partitions(moment);
    end if;
    return moment;
end
$$;

-- The seats that ended attempts held are free. Of each limit one worker that lay down before it is told, and of which keys;
-- a function of its own after the end of the tickets, since only then is its snapshot younger than the transaction's id.
create function {schema}.free_seats(p_numbers bigint[]) returns void
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
    limits bigint[];
    keys uuid[];
begin
    with gone as (
        delete from {schema}.seat s where s.seat_no = any (p_numbers) returning s.limit_id, s.key
    )
    select array_agg(g.limit_id), array_agg(g.key) into limits, keys from gone g;
    if exists (select from {schema}.seat_waiter) then
        perform {schema}.tell('%' || w.holder || ' ' || case when f.n > 16 then '*' else f.keys end)
          from (select u.id, count(*) as n, string_agg(u.key::text, ',') as keys
                  from (select distinct x.id, x.key from unnest(limits, keys) as x(id, key)) u group by u.id) f
         cross join lateral (select x.holder from {schema}.seat_waiter x
                              where x.limit_id = f.id and x.valid_until > (select {schema}.now())
                              order by x.valid_until desc limit 1) w;
    end if;
end
$$;

-- The same where many seats were freed at once, whosever they were: of each limit one worker looks at all its lanes.
create function {schema}.tell_seat_waiters() returns void
language plpgsql volatile as $$
begin
    perform {schema}.tell('%' || w.holder || ' *')
       from (select distinct on (x.limit_id) x.holder from {schema}.seat_waiter x
              where x.valid_until > (select {schema}.now()) order by x.limit_id, x.valid_until desc) w;
end
$$;

-- p_workflows: of those that belong to one; NULL where none does, which costs nothing. Its inbox is told of their end (0064).
create function {schema}.complete(
    p_holder uuid, p_ids uuid[], p_claim_nos bigint[], p_tenants uuid[], p_micros bigint[], p_results jsonb[] default null,
    p_pids integer[] default null, p_workflows uuid[] default null)
returns setof uuid
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
    missed uuid[];
    seats bigint[];
    moment timestamptz := {schema}.history_moment();
begin
    with asked as materialized (
        select u.* from unnest(p_ids, p_claim_nos, p_tenants, p_micros, p_results, p_pids, p_workflows)
                   as u(id, claim_no, tenant_id, micros, result, pid, workflow_id)
    ), held as materialized (
        select r.ctid as tid, r.seat_no, r.id, r.attempt, r.run, r.lost, a.claim_no, a.tenant_id, a.micros, a.result, a.pid, a.workflow_id
          from asked a join {schema}.running r on r.id = a.id and r.claim_no = a.claim_no
         where r.holder = p_holder
         order by r.id for update of r
    ), gone as (
        delete from {schema}.running r where r.ctid = any (array(select h.tid from held h))
    ), ended as (
        insert into {schema}.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, attempt_status,
               holder, claim_no, pid, started_at, result)
        select h.id, h.tenant_id, 'succeeded', moment, h.attempt, h.run, h.lost, 'succeeded', p_holder, h.claim_no,
               h.pid, moment - h.micros * interval '1 microsecond', h.result
          from held h
    ), told as (
        insert into {schema}.workflow_inbox (workflow_id, job_id, state)
        select h.workflow_id, h.id, 'succeeded' from held h where p_workflows is not null and h.workflow_id is not null
    )
    select array(select a.id from asked a where not exists (select from held h where h.id = a.id)),
           array(select h.seat_no from held h where h.seat_no is not null)
      into missed, seats;
    if cardinality(seats) > 0 then
        perform {schema}.free_seats(seats);
    end if;
    return query select unnest(missed);
end
$$;

-- Successes of which the definition keeps nothing: no outcome and no body, only a count.
create function {schema}.complete_forgotten(
    p_holder uuid, p_ids uuid[], p_claim_nos bigint[], p_job_type text)
returns setof uuid
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
    missed uuid[];
    seats bigint[];
begin
    with asked as materialized (
        select u.* from unnest(p_ids, p_claim_nos) as u(id, claim_no)
    ), held as materialized (
        select r.ctid as tid, r.seat_no, r.id
          from asked a join {schema}.running r on r.id = a.id and r.claim_no = a.claim_no
         where r.holder = p_holder
         order by r.id for update of r
    ), gone as (
        delete from {schema}.running r where r.ctid = any (array(select h.tid from held h))
    ), forgotten as (
        delete from {schema}.job j where j.id = any (array(select h.id from held h))
        returning j.id, j.tenant_id, j.queue, j.job_type
    ), forgotten_kept as (
        delete from {schema}.job_kept k where k.id = any (array(select h.id from held h))
        returning k.id, k.tenant_id, k.queue, k.job_type
    ), remembered as (
        insert into {schema}.forgotten (made, tenant_id, queue, job_type, n)
        select date_trunc('second', {schema}.id_time(f.id)), f.tenant_id, f.queue, f.job_type, count(*)
          from (select * from forgotten union all select * from forgotten_kept) f group by 1, 2, 3, 4
    ), counted as (
        insert into {schema}.tally (at, job_type, succeeded)
        select (select {schema}.now()), p_job_type, count(*) from held h having count(*) > 0
    )
    select array(select a.id from asked a where not exists (select from held h where h.id = a.id)),
           array(select h.seat_no from held h where h.seat_no is not null)
      into missed, seats;
    if cardinality(seats) > 0 then
        perform {schema}.free_seats(seats);
    end if;
    return query select unnest(missed);
end
$$;

-- Ends an attempt and puts the ticket into scheduled: a retry (attempt + 1) or a snooze (attempt kept).
-- A negative delay means: at once ready again, which is a release; infinity: until the pause of its type is over (0051). p_statuses: failed | timeout | snoozed |
-- interrupted | lost; NULL leaves no attempt (a prefetched ticket that never started).
create function {schema}.put_back(
    p_holder uuid, p_ids uuid[], p_claim_nos bigint[], p_tenants uuid[], p_micros bigint[], p_statuses text[],
    p_delays double precision[], p_deaths integer[] default null, p_error_classes text[] default null,
    p_error_codes text[] default null, p_error_messages text[] default null, p_error_statuses integer[] default null,
    p_stacks text[] default null, p_exit_codes integer[] default null, p_pids integer[] default null,
    p_stdouts text[] default null, p_stderrs text[] default null, p_error_groups text[] default null)
returns setof uuid
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
    moment timestamptz := {schema}.history_moment();
    missed uuid[];
    seats bigint[];
    asked_to_end {schema}.cancel_request;
    rung record;
    woken text[];
    woken_lanes uuid[];
    woken_priorities integer[];
begin
    with asked as materialized (
        select u.* from unnest(p_ids, p_claim_nos, p_tenants, p_micros, p_statuses, p_delays, p_deaths, p_error_classes,
               p_error_codes, p_error_messages, p_error_statuses, p_stacks, p_exit_codes, p_pids, p_stdouts, p_stderrs,
               p_error_groups)
               as u(id, claim_no, tenant_id, micros, status, delay, deaths, error_class, error_code, error_message,
                    error_status, stack, exit_code, pid, stdout_tail, stderr_tail, error_group)
    ), held as materialized (
        select r.ctid as tid, r.seat_no, r.queue, r.lane, r.priority, r.attempt, r.run, r.lost, a.*
          from asked a join {schema}.running r on r.id = a.id and r.claim_no = a.claim_no
         where r.holder = p_holder
         order by r.id for update of r
    ), gone as (
        delete from {schema}.running r where r.ctid = any (array(select h.tid from held h))
    ), tried as (
        insert into {schema}.attempt (job_id, tenant_id, attempt, run, holder, claim_no, pid, started_at, finished_at,
               status, exit_code, error_class, error_code, error_message, error_status, stack, stdout_tail,
               stderr_tail, error_group)
        select h.id, h.tenant_id, h.attempt, h.run, p_holder, h.claim_no, h.pid,
               moment - h.micros * interval '1 microsecond', moment, h.status, h.exit_code, h.error_class,
               h.error_code, h.error_message, h.error_status, h.stack, h.stdout_tail, h.stderr_tail,
               h.error_group
          from held h where h.status is not null
    ), later as (
        insert into {schema}.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
        select h.queue, h.lane, case when h.delay = 'infinity' then {schema}.held_until(h.id, moment)
                                     else moment + h.delay * interval '1 second' end, h.id, h.priority,
               h.attempt + case when h.status in ('failed', 'timeout', 'lost') then 1 else 0 end, h.run,
               h.lost + coalesce(h.deaths, 0)
          from held h where h.delay >= 0
    ), again as (
        insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
        select h.queue, h.lane, h.priority, {schema}.now(), h.id, h.attempt,
               h.run - case when h.status is null then 1 else 0 end, h.lost
          from held h where h.delay < 0
    )
    select array(select a.id from asked a where not exists (select from held h where h.id = a.id)),
           array(select h.queue from held h where h.delay < 0 order by h.id),
           array(select h.lane from held h where h.delay < 0 order by h.id),
           array(select h.priority from held h where h.delay < 0 order by h.id),
           array(select h.seat_no from held h where h.seat_no is not null)
      into missed, woken, woken_lanes, woken_priorities, seats;
    if cardinality(seats) > 0 then
        perform {schema}.free_seats(seats);
    end if;
    -- Its handler has ended: a request that it did not hear is met now, before anybody tries it again.
    for asked_to_end in select c.* from {schema}.cancel_request c
                         where c.job_id = any (p_ids) and c.job_id <> all (missed) order by c.job_id loop
        perform {schema}.cancel_jobs(array[asked_to_end.job_id], asked_to_end.actor_type, asked_to_end.actor_id,
                                     asked_to_end.reason);
    end loop;
    for rung in select distinct u.queue, u.lane, u.priority
                  from unnest(woken, woken_lanes, woken_priorities) as u(queue, lane, priority) limit 16 loop
        perform {schema}.ring(rung.queue, rung.lane, rung.priority);
    end loop;
    return query select unnest(missed);
end
$$;

-- Ends jobs for good as failed or canceled.
create function {schema}.finish(
    p_holder uuid, p_ids uuid[], p_claim_nos bigint[], p_tenants uuid[], p_micros bigint[], p_statuses text[],
    p_attempt_statuses text[], p_reasons text[], p_error_classes text[] default null, p_error_codes text[] default null,
    p_error_messages text[] default null, p_error_statuses integer[] default null, p_stacks text[] default null,
    p_exit_codes integer[] default null, p_pids integer[] default null, p_stdouts text[] default null,
    p_stderrs text[] default null, p_error_groups text[] default null)
returns setof uuid
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
    missed uuid[];
    seats bigint[];
    moment timestamptz := {schema}.history_moment();
begin
    with asked as materialized (
        select u.* from unnest(p_ids, p_claim_nos, p_tenants, p_micros, p_statuses, p_attempt_statuses, p_reasons,
               p_error_classes, p_error_codes, p_error_messages, p_error_statuses, p_stacks, p_exit_codes, p_pids,
               p_stdouts, p_stderrs, p_error_groups)
               as u(id, claim_no, tenant_id, micros, status, attempt_status, reason, error_class, error_code,
                    error_message, error_status, stack, exit_code, pid, stdout_tail, stderr_tail, error_group)
    ), held as materialized (
        select r.ctid as tid, r.seat_no, r.attempt, r.run, r.lost, a.*
          from asked a join {schema}.running r on r.id = a.id and r.claim_no = a.claim_no
         where r.holder = p_holder
         order by r.id for update of r
    ), gone as (
        delete from {schema}.running r where r.ctid = any (array(select h.tid from held h))
    ), heard as (
        delete from {schema}.cancel_request c using held h where c.job_id = h.id
    ), ended as (
        insert into {schema}.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, attempt_status, holder,
               claim_no, pid, started_at, exit_code, reason, error_class, error_code, error_message, error_status,
               stack, stdout_tail, stderr_tail, error_group)
        select h.id, h.tenant_id, h.status, moment, h.attempt, h.run, h.lost, h.attempt_status, p_holder, h.claim_no,
               h.pid, moment - h.micros * interval '1 microsecond', h.exit_code, h.reason, h.error_class, h.error_code,
               h.error_message, h.error_status, h.stack, h.stdout_tail, h.stderr_tail,
               h.error_group
          from held h
    ), told as (
        insert into {schema}.workflow_inbox (workflow_id, job_id, state)
        select s.workflow_id, h.id, h.status from held h join {schema}.workflow_step s on s.job_id = h.id
    )
    select array(select a.id from asked a where not exists (select from held h where h.id = a.id)),
           array(select h.seat_no from held h where h.seat_no is not null)
      into missed, seats;
    if cardinality(seats) > 0 then
        perform {schema}.free_seats(seats);
    end if;
    return query select unnest(missed);
end
$$;

-- Gives jobs up: the last attempt goes to history, the ticket to the dead letters.
create function {schema}.bury(
    p_holder uuid, p_ids uuid[], p_claim_nos bigint[], p_tenants uuid[], p_micros bigint[], p_attempt_statuses text[],
    p_reasons text[], p_error_classes text[] default null, p_error_codes text[] default null,
    p_error_messages text[] default null, p_error_statuses integer[] default null, p_stacks text[] default null,
    p_exit_codes integer[] default null, p_pids integer[] default null, p_stdouts text[] default null,
    p_stderrs text[] default null, p_error_groups text[] default null)
returns setof uuid
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
    missed uuid[];
    seats bigint[];
    moment timestamptz := {schema}.history_moment();
begin
    with asked as materialized (
        select u.* from unnest(p_ids, p_claim_nos, p_tenants, p_micros, p_attempt_statuses, p_reasons, p_error_classes,
               p_error_codes, p_error_messages, p_error_statuses, p_stacks, p_exit_codes, p_pids, p_stdouts, p_stderrs,
               p_error_groups)
               as u(id, claim_no, tenant_id, micros, attempt_status, reason, error_class, error_code, error_message,
                    error_status, stack, exit_code, pid, stdout_tail, stderr_tail, error_group)
    ), held as materialized (
        select r.ctid as tid, r.seat_no, r.queue, r.lane, r.priority, r.attempt, r.run, r.lost, a.*
          from asked a join {schema}.running r on r.id = a.id and r.claim_no = a.claim_no
         where r.holder = p_holder
         order by r.id for update of r
    ), gone as (
        delete from {schema}.running r where r.ctid = any (array(select h.tid from held h))
    ), tried as (
        insert into {schema}.attempt (job_id, tenant_id, attempt, run, holder, claim_no, pid, started_at, finished_at,
               status, exit_code, error_class, error_code, error_message, error_status, stack, stdout_tail,
               stderr_tail, error_group)
        select h.id, h.tenant_id, h.attempt, h.run, p_holder, h.claim_no, h.pid,
               moment - h.micros * interval '1 microsecond', moment, h.attempt_status, h.exit_code, h.error_class,
               h.error_code, h.error_message, h.error_status, h.stack, h.stdout_tail, h.stderr_tail,
               h.error_group
          from held h where h.attempt_status is not null
    ), buried as (
        insert into {schema}.dead_letter (id, tenant_id, queue, lane, priority, attempt, run, lost, reason, error_class,
               error_code, error_message, error_status, error_group, stack, attempts, failed_at, last_attempt_at)
        select h.id, h.tenant_id, h.queue, h.lane, h.priority, h.attempt, h.run, h.lost, h.reason, h.error_class,
               h.error_code, h.error_message, h.error_status, h.error_group, h.stack, h.attempt, moment,
               moment - h.micros * interval '1 microsecond'
          from held h
    ), heard as (
        delete from {schema}.cancel_request c using held h where c.job_id = h.id
    ), told as (
        insert into {schema}.workflow_inbox (workflow_id, job_id, state)
        select s.workflow_id, h.id, 'failed' from held h join {schema}.workflow_step s on s.job_id = h.id
    )
    select array(select a.id from asked a where not exists (select from held h where h.id = a.id)),
           array(select h.seat_no from held h where h.seat_no is not null)
      into missed, seats;
    if cardinality(seats) > 0 then
        perform {schema}.free_seats(seats);
    end if;
    return query select unnest(missed);
end
$$;

-- Which of these reports were applied by an earlier try whose answer was lost? Looks one hour back.
create function {schema}.settled(p_holder uuid, p_ids uuid[], p_claim_nos bigint[])
returns setof uuid
language plpgsql volatile as $$
begin
    return query
    select u.id from unnest(p_ids, p_claim_nos) as u(id, claim_no)
     where exists (select from {schema}.outcome o where o.job_id = u.id and o.holder = p_holder
                      and o.claim_no = u.claim_no and o.finished_at > (select {schema}.now()) - interval '1 hour')
        or exists (select from {schema}.attempt a where a.job_id = u.id and a.holder = p_holder
                      and a.claim_no = u.claim_no and a.finished_at > (select {schema}.now()) - interval '1 hour');
end
$$;
