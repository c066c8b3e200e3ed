-- postmill: safe
-- Moving workflows on: the one place where a step's state changes. Steps are found one by one, by job or number, fenced (offset 0),
-- and then written by their place: as joins these would be planned over all live steps of the workflow, of which a wide one
-- has thousands (6 s in place of 60 ms for 3,000 steps that become free at once). Who holds the workflow's row holds its steps, too.

-- Looks at every step that waits anew: how many parents have not ended, how many failures an operator must hear of.
create function {schema}.recount_steps(p_id uuid) returns void
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
    update {schema}.workflow_step s set waits = f.waits, holds = f.holds, state = 'waiting'
      from (select c.ctid as tid, n.*
              from {schema}.workflow_step c
             cross join lateral (
                select count(*) filter (where p.state in ('waiting', 'held', 'open')) as waits,
                       count(*) filter (where p.state in ('failed', 'canceled') and e.policy = 'hold' and not c.released) as holds
                  from (select x.parent, x.policy from {schema}.workflow_edge x where x.workflow_id = p_id and x.child = c.no offset 0) e
                 cross join lateral (
                    select x.state from {schema}.workflow_step x where x.workflow_id = p_id and x.no = e.parent offset 0) p) n
             where c.workflow_id = p_id and c.state in ('waiting', 'held')
               and (c.waits, c.holds, c.state) is distinct from (n.waits, n.holds, 'waiting')) f
     where s.ctid = f.tid;
end
$$;

-- Did one of these steps fail so that the workflow has failed? Not where all that wait for it go on without it.
create function {schema}.untolerated(p_id uuid, p_nos integer[]) returns boolean
language plpgsql stable as $$
begin
    return exists (
        select from unnest(p_nos) as u(no)
         where not exists (select from {schema}.workflow_edge e where e.workflow_id = p_id and e.parent = u.no)
            or exists (select from {schema}.workflow_edge e where e.workflow_id = p_id and e.parent = u.no and e.policy <> 'continue'));
end
$$;

-- Cancels what must not run since a parent did not succeed, and what that takes with it: at once, however deep.
create function {schema}.doom_steps(p_id uuid, p_bad integer[]) returns void
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
    ids uuid[];
begin
    with recursive doomed (no) as (
        -- Fenced (offset 0): by any other index than the primary key all live steps would be read at each level.
        select e.child from {schema}.workflow_edge e
         cross join lateral (select f.state from {schema}.workflow_step f where f.workflow_id = p_id and f.no = e.child offset 0) c
         where e.workflow_id = p_id and e.parent = any (p_bad) and e.policy = 'cancel' and c.state in ('waiting', 'held')
        union
        select e.child from doomed d
         cross join lateral (select f.child from {schema}.workflow_edge f
                              where f.workflow_id = p_id and f.parent = d.no and f.policy = 'cancel' offset 0) e
         cross join lateral (select f.state from {schema}.workflow_step f where f.workflow_id = p_id and f.no = e.child offset 0) c
         where c.state in ('waiting', 'held')
    ), marked as (
        update {schema}.workflow_step s set cause = 'parent'
         where s.workflow_id = p_id and s.no = any (array(select d.no from doomed d))
        returning s.job_id
    )
    select array_agg(m.job_id) into ids from marked m;
    if ids is not null then
        perform {schema}.cancel_jobs(ids, 'system', null, 'a step that it waits for did not succeed');
    end if;
end
$$;

-- Lets steps run whose parents have ended well enough. True: some could not be had, for somebody holds their tickets.
create function {schema}.free_steps(p_id uuid) returns boolean
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
    moment timestamptz := {schema}.now();
    queues text[];
    lanes uuid[];
    urgencies integer[];
    rung record;
    -- Its tenant is about to leave: what is free now runs in the other cell (see park_tickets).
    leaving boolean := (select h.gated from {schema}.partition_horizon h) and exists (
        select from {schema}.workflow w join {schema}.tenant_gate g on g.tenant_id = w.tenant_id
         where w.id = p_id and g.stage in ('draining', 'closed'));
begin
    update {schema}.workflow_step s set state = 'held'
     where s.workflow_id = p_id and s.state = 'waiting' and s.waits = 0 and s.holds > 0 and s.cause is null;
    with free as materialized (
        select s.ctid as place, b.*, greatest(j.scheduled_for, moment + s.delay) as due
          from {schema}.workflow_step s
         cross join lateral (select t.ctid as tid, t.* from {schema}.blocked t where t.id = s.job_id for update skip locked) b
          left join lateral (select f.scheduled_for from {schema}.any_job f where f.id = s.job_id offset 0) j on true
         where s.workflow_id = p_id and s.state = 'waiting' and s.waits = 0 and s.cause is null
    ), gone as (
        delete from {schema}.blocked t where t.ctid = any (array(select f.tid from free f))
    ), due_now as (
        insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
        select f.queue, f.lane, f.priority, {schema}.now(), f.id, f.attempt, f.run, f.lost from free f
         where not leaving and coalesce(f.due <= moment, true)
    ), due_later as (
        insert into {schema}.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
        select f.queue, f.lane, case when leaving then {schema}.parked_at(greatest(f.due, moment), coalesce(f.due <= moment, true))
                                     else f.due end, f.id, f.priority, f.attempt, f.run, f.lost
          from free f where leaving or f.due > moment
    ), opened as (
        update {schema}.workflow_step s set state = 'open' from free f where s.ctid = f.place
    )
    select array_agg(f.queue), array_agg(f.lane), array_agg(f.priority) into queues, lanes, urgencies
      from (select distinct f.queue, f.lane, f.priority from free f where coalesce(f.due <= moment, true)) f;
    for rung in select u.queue, count(*) as wide, array_agg(u.lane) as lanes, array_agg(u.priority) as priorities
                  from unnest(queues, lanes, urgencies) as u(queue, lane, priority) group by u.queue loop
        if rung.wide > 16 then
            perform {schema}.ring(rung.queue);
        else
            perform {schema}.ring(rung.queue, u.lane, u.priority) from unnest(rung.lanes, rung.priorities) as u(lane, priority);
        end if;
    end loop;
    return exists (select from {schema}.workflow_step s where s.workflow_id = p_id and s.state = 'waiting' and s.waits = 0);
end
$$;

-- The steps are over: takes back what has succeeded, the last one first, each waiting for the one before. False: nothing is
-- to be taken back. A compensation that cannot be enqueued stands as failed, and holds what comes after it.
create function {schema}.begin_rollback(p_flow {schema}.workflow) returns boolean
language plpgsql volatile as $$
declare
    one record;
    no integer := p_flow.last_no;
    last integer;
    made record;
begin
    for one in select s.no, s.compensation from {schema}.workflow_step s
                where s.workflow_id = p_flow.id and s.role = 'step' and s.state = 'succeeded' and s.compensation is not null
                order by s.ended_as desc loop
        no := no + 1;
        made := {schema}.enqueue_step(p_flow, one.compensation, no::text, last is not null);
        insert into {schema}.workflow_step (workflow_id, no, tenant_id, role, job_type, job_id, state, waits, cause, delay, compensates)
        values (p_flow.id, no, p_flow.tenant_id, 'compensation', one.compensation ->> 'job_type', made.id,
                case when made.status <> 'created' then 'failed' when last is null then 'open' else 'waiting' end, 0,
                case when made.status <> 'created' then concat_ws(': ', made.status, made.detail) end,
                (one.compensation ->> 'delay')::double precision * interval '1 second', one.no);
        if last is not null then
            insert into {schema}.workflow_edge (workflow_id, parent, child, tenant_id, policy) values (p_flow.id, last, no, p_flow.tenant_id, 'hold');
            perform {schema}.block_jobs(array[made.id]);
        end if;
        last := no;
    end loop;
    update {schema}.workflow w set last_no = no where w.id = p_flow.id;
    perform {schema}.recount_steps(p_flow.id);
    return last is not null;
end
$$;

-- The end of a workflow: those who asked to be told are jobs, too.
create function {schema}.finish_workflow(p_flow {schema}.workflow) returns void
language plpgsql volatile as $$
declare
    one record;
    no integer := (select w.last_no from {schema}.workflow w where w.id = p_flow.id);
    made record;
begin
    for one in select c.role, c.spec from (values ('on_success', case when p_flow.verdict = 'succeeded' then p_flow.on_success end),
                                                  ('on_finish', p_flow.on_finish)) as c(role, spec) where c.spec is not null loop
        no := no + 1;
        made := {schema}.enqueue_step(p_flow, one.spec, no::text, false);
        insert into {schema}.workflow_step (workflow_id, no, tenant_id, role, job_type, job_id, state, cause)
        values (p_flow.id, no, p_flow.tenant_id, one.role, one.spec ->> 'job_type', made.id,
                case made.status when 'created' then 'open' else 'failed' end,
                case when made.status <> 'created' then concat_ws(': ', made.status, made.detail) end);
    end loop;
    update {schema}.workflow w set status = p_flow.verdict, finished_at = {schema}.now(), last_no = no where w.id = p_flow.id;
end
$$;

-- Where the workflow stands after its steps have moved.
create function {schema}.settle_workflow(p_id uuid) returns void
language plpgsql volatile as $$
declare
    flow {schema}.workflow;
begin
    select * into flow from {schema}.workflow w where w.id = p_id;
    if flow.finished_at is not null then
        return;
    end if;
    if flow.verdict is null and flow.sealed and flow.succeeded + flow.failed + flow.canceled >= flow.total then
        flow.verdict := case
            when flow.failed + flow.canceled = 0 then 'succeeded'
            when flow.cancel_requested_at is not null then 'canceled'
            when flow.kind = 'batch' or {schema}.untolerated(p_id, array(
                select s.no from {schema}.workflow_step s
                 where s.workflow_id = p_id and s.role = 'step' and s.state in ('failed', 'canceled'))) then 'failed'
            else 'succeeded' end;
        update {schema}.workflow w set verdict = flow.verdict where w.id = p_id;
        if flow.verdict <> 'succeeded' and {schema}.begin_rollback(flow) then
            update {schema}.workflow w set status = 'compensating' where w.id = p_id;
            perform {schema}.free_steps(p_id);
            flow.status := 'compensating';
        end if;
    end if;
    if flow.verdict is not null and not exists (
        select from {schema}.workflow_step s where s.workflow_id = p_id and s.state in ('waiting', 'held', 'open')) then
        perform {schema}.finish_workflow(flow);
        return;
    end if;
    flow.status := case
        when exists (select from {schema}.workflow_step s where s.workflow_id = p_id and s.state = 'held')
            and not exists (select from {schema}.workflow_step s where s.workflow_id = p_id and s.state = 'open') then 'held'
        when flow.verdict is not null then 'compensating' else 'running' end;
    update {schema}.workflow w set status = flow.status where w.id = p_id and w.status <> flow.status;
end
$$;

-- Reads up to p_most lines of a workflow's inbox and moves its steps on. The number of lines; -1: somebody else is at it, or
-- holds a ticket that was to move: try again.
create function {schema}.advance_workflow(p_id uuid, p_most integer default 1000) returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
    flow {schema}.workflow;
    lines integer := 0;
    news record;
    bad integer[];
    again boolean := false;
begin
    select * into flow from {schema}.workflow w where w.id = p_id for update skip locked;
    if not found then
        if exists (select from {schema}.workflow w where w.id = p_id) then
            return -1;
        end if;
        delete from {schema}.workflow_inbox i where i.workflow_id = p_id;
        return 0;
    end if;
    loop
        with taken as materialized (
            select i.seq, i.job_id, i.state from {schema}.workflow_inbox i where i.workflow_id = p_id order by i.seq limit p_most
        ), gone as (
            delete from {schema}.workflow_inbox i where i.workflow_id = p_id and i.seq = any (array(select t.seq from taken t))
        ), ends as (
            select t.job_id, t.state, row_number() over (order by t.seq)::integer as nth
              from (select distinct on (f.job_id) f.* from taken f where f.job_id is not null order by f.job_id, f.seq) t
        ), ended as (
            update {schema}.workflow_step s set state = t.state, ended_as = flow.ended + t.nth
              from (select f.place, e.* from ends e
                     cross join lateral (select x.ctid as place, x.workflow_id, x.state as was
                                           from {schema}.workflow_step x where x.job_id = e.job_id offset 0) f
                     where f.workflow_id = p_id and f.was in ('waiting', 'held', 'open')) t
             where s.ctid = t.place
            returning s.no, s.role, s.state
        )
        select (select count(*) from taken) as lines, (select bool_or(t.job_id is null) from taken t) as whole,
               (select array_agg(e.no) from ended e) as ended,
               (select array_agg(e.no) from ended e where e.state <> 'succeeded') as bad,
               (select count(*) from ended e where e.role = 'step' and e.state = 'succeeded') as succeeded,
               (select count(*) from ended e where e.role = 'step' and e.state = 'failed') as failed,
               (select count(*) from ended e where e.role = 'step' and e.state = 'canceled') as canceled
          into news;
        exit when news.lines = 0;
        lines := lines + news.lines;
        if news.succeeded + news.failed + news.canceled > 0 then
            update {schema}.workflow w set succeeded = w.succeeded + news.succeeded, failed = w.failed + news.failed,
                   canceled = w.canceled + news.canceled, ended = w.ended + news.lines where w.id = p_id;
            flow.ended := flow.ended + news.lines;
        end if;
        bad := news.bad;
        if news.whole then
            perform {schema}.recount_steps(p_id);
            bad := array(select s.no from {schema}.workflow_step s where s.workflow_id = p_id and s.state in ('failed', 'canceled'));
        elsif news.ended is not null then
            update {schema}.workflow_step s set waits = s.waits - x.n, holds = s.holds + x.held
              from (select f.place, c.n, c.held
                      from (select e.child, count(*) as n, count(*) filter (where e.policy = 'hold' and e.parent = any (news.bad)) as held
                              from {schema}.workflow_edge e where e.workflow_id = p_id and e.parent = any (news.ended) group by e.child) c
                     cross join lateral (select y.ctid as place, y.state from {schema}.workflow_step y
                                          where y.workflow_id = p_id and y.no = c.child offset 0) f
                     where f.state in ('waiting', 'held')) x
             where s.ctid = x.place;
        end if;
        if flow.verdict is null and flow.fail_fast and flow.cancel_reason is null
            and {schema}.untolerated(p_id, array(
                select u.no from unnest(news.bad) as u(no) where not exists (
                    select from {schema}.workflow_edge e where e.workflow_id = p_id and e.parent = u.no and e.policy = 'hold'))) then
            flow.cancel_reason := 'a step did not succeed';
            update {schema}.workflow w set cancel_reason = flow.cancel_reason where w.id = p_id;
            perform {schema}.cancel_jobs(array(select s.job_id from {schema}.workflow_step s
                where s.workflow_id = p_id and s.state in ('waiting', 'held', 'open')), 'system', null, flow.cancel_reason);
        elsif bad is not null then
            perform {schema}.doom_steps(p_id, bad);
        end if;
        exit when lines >= 10 * p_most;
    end loop;
    if flow.cancel_reason is not null and flow.verdict is null then
        -- Nothing of it starts any more. What is still here was in somebody's hands when it was to be canceled.
        perform {schema}.cancel_jobs(x.ids, 'system', null, flow.cancel_reason)
           from (select array_agg(s.job_id) as ids from {schema}.workflow_step s
                  where s.workflow_id = p_id and s.state in ('waiting', 'held')) x where x.ids is not null;
        again := exists (select from {schema}.workflow_step s where s.workflow_id = p_id and s.state in ('waiting', 'held'));
    else
        again := {schema}.free_steps(p_id);
        -- The doomed that could not be had.
        again := again or exists (select from {schema}.workflow_step s where s.workflow_id = p_id and s.state in ('waiting', 'held') and s.cause = 'parent');
    end if;
    update {schema}.workflow w set looked_at = {schema}.now() where w.id = p_id and lines > 0;
    perform {schema}.settle_workflow(p_id);
    if again then
        insert into {schema}.workflow_inbox (workflow_id) values (p_id);
    end if;
    return case when again then -1 else lines end;
end
$$;

-- Workflows with something in their inboxes, in no order; a loose scan.
create function {schema}.stirred_workflows(p_most integer) returns setof uuid
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
    return query
    with recursive step (id) as (
        (select i.workflow_id from {schema}.workflow_inbox i order by i.workflow_id limit 1)
        union all
        select (select i.workflow_id from {schema}.workflow_inbox i where i.workflow_id > s.id order by i.workflow_id limit 1)
          from step s where s.id is not null
    )
    select s.id from step s where s.id is not null limit p_most;
end
$$;

-- Looks, a part at a time, whether open steps have ended that nobody told the inbox of: by a worker of an older version. Where
-- nothing is on its way at all, everything is to be looked at anew. Workflows that moved within p_after are left alone.
create function {schema}.look_after_workflows(p_after interval, p_most integer) returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
    flow record;
    found_some integer := 0;
    lines integer;
    last integer;
begin
    for flow in select w.id, w.looked_no from {schema}.workflow w
                 where w.finished_at is null and w.looked_at < (select {schema}.now()) - p_after
                 order by w.looked_at limit 20 for update skip locked loop
        with part as materialized (
            select s.no, s.job_id from {schema}.workflow_step s
             where s.workflow_id = flow.id and s.no > flow.looked_no order by s.no limit p_most
        ), ended as (
            select s.job_id, case when o.status is not null then replace(o.status, 'dead_letter', 'failed')
                                  when d.id is not null then 'failed'
                                  when not exists (select from {schema}.any_job j where j.id = s.job_id) then 'succeeded' end as state
              from part s join {schema}.workflow_step w on w.workflow_id = flow.id and w.no = s.no and w.state in ('waiting', 'held', 'open')
              left join lateral (select t.status from {schema}.outcome t where t.job_id = s.job_id limit 1) o on true
              left join lateral (select t.id from {schema}.dead_letter t where t.id = s.job_id offset 0) d on true
             where s.job_id is not null -- in one snapshot: between two looks a ticket moves
               and not exists (select from {schema}.ready t where t.id = s.job_id)
               and not exists (select from {schema}.scheduled t where t.id = s.job_id)
               and not exists (select from {schema}.running t where t.id = s.job_id)
               and not exists (select from {schema}.blocked t where t.id = s.job_id)
        ), told as (
            insert into {schema}.workflow_inbox (workflow_id, job_id, state) select flow.id, e.job_id, e.state from ended e
             where e.state is not null
            returning 1
        )
        select (select count(*) from told), (select max(s.no) from part s having count(*) = p_most) into lines, last;
        if last is null and lines = 0 and not exists (
            select from {schema}.workflow w join {schema}.workflow_step s on s.workflow_id = w.id and s.state in ('held', 'open')
             where w.id = flow.id) and exists (select from {schema}.workflow w where w.id = flow.id and w.sealed) then
            insert into {schema}.workflow_inbox (workflow_id) values (flow.id);
            lines := 1;
        end if;
        found_some := found_some + lines;
        update {schema}.workflow w set looked_no = coalesce(last, 0),
               looked_at = case when last is null then {schema}.now() else w.looked_at end where w.id = flow.id;
    end loop;
    return found_some;
end
$$;
