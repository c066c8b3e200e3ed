-- postmill: safe
-- What people and programs do to workflows. On the caller's transaction, never raising for a refusal.

-- One job of a workflow, as its spec says. p_no names the step where its definition asks for a key in the envelope. p_waits: for
-- another step, from whose end its delay counts.
create function {schema}.enqueue_step(p_flow {schema}.workflow, p_spec jsonb, p_no text, p_waits boolean, out id uuid, out status text, out detail text)
language plpgsql volatile as $$
begin
    select e.id, e.status, e.detail into id, status, detail
      from {schema}.enqueue_one(p_spec ->> 'job_type', coalesce(p_spec -> 'payload', '{}'), p_flow.tenant_id,
          (p_spec ->> 'priority')::integer, case when not p_waits then (p_spec ->> 'delay')::double precision * interval '1 second' end,
          (p_spec ->> 'scheduled_for')::timestamptz, p_flow.project_id,
          (p_spec ->> 'max_attempts')::integer, (p_spec ->> 'timeout')::double precision, null, 'system',
          p_flow.name, p_flow.actor_type, p_flow.actor_id, p_flow.request_id, coalesce(p_flow.correlation_id, p_flow.id::text),
          p_flow.traceparent, 'workflow:' || p_flow.id || ':' || p_no, p_workflow => p_flow.id) e;
    if status = 'created' and p_spec ? 'tags' then
        perform {schema}.keep_tags(id, p_flow.tenant_id, p_spec -> 'tags');
    end if;
end
$$;

-- Why a spec makes no job, as status and detail; NULLs: it would make one.
create function {schema}.fault_of_spec(p_flow {schema}.workflow, p_what text, p_spec jsonb, out status text, out detail text)
language plpgsql volatile as $$
declare
    definition record;
begin
    if p_spec is null then
        return;
    end if;
    detail := {schema}.fault_of_item(p_spec,
        '{job_type,payload,priority,delay,scheduled_for,max_attempts,timeout,tags}');
    if detail is not null then
        status := 'invalid';
        detail := p_what || ': ' || detail;
        return;
    end if;
    select d.guarded, d.is_active into definition from {schema}.job_definition d where d.key = p_spec ->> 'job_type';
    if not found or not definition.is_active then
        select coalesce(r.detail, r.status), p_spec ->> 'job_type' into status, detail
          from {schema}.refusal(p_spec ->> 'job_type') r where r.status <> 'alias';
        return;
    end if;
    detail := case when p_spec ? 'tags' then {schema}.fault_of_tags(p_spec -> 'tags') end;
    detail := coalesce(detail, {schema}.fault_of(coalesce(p_spec -> 'payload', '{}'),
        (p_spec ->> 'delay')::double precision * interval '1 second', (p_spec ->> 'scheduled_for')::timestamptz, (p_spec ->> 'max_attempts')::integer,
        (p_spec ->> 'timeout')::double precision, null, null, null, null, null, null, null));
    if detail is not null then
        status := 'invalid';
        detail := p_what || ': ' || detail;
    elsif definition.guarded then
        select g.status, g.detail into status, detail
          from {schema}.check_guarded(p_spec ->> 'job_type', coalesce(p_spec -> 'payload', '{}'), p_flow.tenant_id, p_flow.actor_id,
              p_flow.request_id, coalesce(p_flow.correlation_id, p_flow.id::text), 'workflow:' || p_flow.id, false) g;
    end if;
end
$$;

-- Puts the tickets of these jobs, just made, where they wait for parents.
create function {schema}.block_jobs(p_ids uuid[]) returns void
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
    with due as (
        delete from {schema}.ready r where r.id = any (p_ids) returning r.id, r.queue, r.lane, r.priority, r.attempt, r.run, r.lost
    ), later as (
        delete from {schema}.scheduled s where s.id = any (p_ids) returning s.id, s.queue, s.lane, s.priority, s.attempt, s.run, s.lost
    )
    insert into {schema}.blocked (id, queue, lane, priority, attempt, run, lost)
    select * from due union all select * from later;
end
$$;

-- The same for those who write SQL: its id as the answer, an error that explains a refusal.
create function {schema}.workflow(name text, steps jsonb, tenant uuid default null, key text default null,
    fail_fast boolean default false, on_success jsonb default null, on_finish jsonb default null) returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    answer record;
begin
    answer := {schema}.start_workflow(jsonb_strip_nulls(jsonb_build_object('name', name, 'key', key, 'fail_fast', fail_fast))
        || jsonb_build_object('steps', steps) || case when on_success is null then '{}' else jsonb_build_object('on_success', on_success) end
        || case when on_finish is null then '{}' else jsonb_build_object('on_finish', on_finish) end, tenant);
    if answer.status in ('created', 'duplicate') then
        return answer.id;
    elsif answer.status in ('busy', 'serialization') then
        raise exception 'postmill: the transaction must be tried again (%)', answer.status using errcode = 'serialization_failure';
    end if;
    raise exception 'postmill: no workflow "%" was made: %', left(name, 200),
        case when answer.status = 'invalid' then answer.detail
             when answer.status in ('unknown_type', 'may_register') then format('there is no job type "%s"', answer.detail)
             else concat_ws(': ', replace(answer.status, '_', ' '), answer.detail) end
        using errcode = 'invalid_parameter_value';
end
$$;

-- More jobs for a batch: created | finished (it has ended) | sealed | unknown, and what start_workflow says. Two who add to one
-- batch wait for each other's transactions.
create function {schema}.add_jobs(p_id uuid, p_jobs jsonb, out status text, out detail text, out total integer)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    flow {schema}.workflow;
begin
    select * into flow from {schema}.workflow w where w.id = p_id and w.kind = 'batch' and {schema}.in_scope(w.tenant_id) for update;
    status := case when flow.id is null then 'unknown' when flow.finished_at is not null then 'finished'
                   when flow.cancel_requested_at is not null then 'canceled' when flow.sealed then 'sealed' end;
    total := flow.total;
    if status is not null then
        return;
    end if;
    begin
        select a.status, a.detail into status, detail from {schema}.add_steps(flow, p_jobs) a;
        if status is not null then
            raise exception using errcode = 'PM001';
        end if;
        total := (select w.total from {schema}.workflow w where w.id = p_id);
        status := 'created';
    exception
        when sqlstate 'PM001' then null;
        when invalid_text_representation or datetime_field_overflow or invalid_datetime_format or numeric_value_out_of_range
            or invalid_parameter_value then
            status := 'invalid';
            detail := left(sqlerrm, 500);
    end;
end
$$;

-- No more jobs come: sealed | already | unknown.
create function {schema}.seal_batch(p_id uuid) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    flow {schema}.workflow;
begin
    select * into flow from {schema}.workflow w where w.id = p_id and w.kind = 'batch' and {schema}.in_scope(w.tenant_id) for update;
    if not found then
        return 'unknown';
    elsif flow.sealed then
        return 'already';
    end if;
    update {schema}.workflow w set sealed = true where w.id = p_id;
    perform {schema}.nudge_workflow(p_id);
    return 'sealed';
end
$$;

-- The step of a job that runs fans out: more steps, which wait for it. Raises where they cannot be, since its success is in the
-- same transaction and must not be without them.
create function {schema}.fan_out(p_workflow uuid, p_job uuid, p_steps jsonb) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    flow {schema}.workflow;
    step_no integer;
    answer record;
begin
    select * into flow from {schema}.workflow w where w.id = p_workflow for update;
    select s.no into step_no from {schema}.workflow_step s where s.workflow_id = p_workflow and s.job_id = p_job and s.role = 'step';
    if flow.id is null or step_no is null then
        raise exception 'postmill: job % is no step of a workflow', p_job using errcode = 'PM002';
    elsif flow.cancel_reason is not null then
        return; -- nothing more of it is to run
    end if;
    answer := {schema}.add_steps(flow, p_steps, step_no);
    if answer.status is not null then
        raise exception 'postmill: the steps that job % fans out were refused: %', p_job,
            concat_ws(': ', nullif(answer.status, 'invalid'), answer.detail) using errcode = 'PM002';
    end if;
    -- The end of the step itself frees what it fans out; other parents may have ended already.
    if exists (select from {schema}.workflow_step s join {schema}.workflow_edge e on e.workflow_id = p_workflow and e.child = s.no
                where s.workflow_id = p_workflow and s.no > flow.last_no and e.parent <= flow.last_no and e.parent <> step_no) then
        insert into {schema}.workflow_inbox (workflow_id) values (p_workflow);
    end if;
end
$$;

-- complete() of one job that fans out. True: it is done; false: it is no longer this worker's.
create function {schema}.complete_fanning(p_holder uuid, p_id uuid, p_claim_no bigint, p_tenant uuid, p_micros bigint, p_result jsonb,
    p_workflow uuid, p_steps jsonb) returns boolean
language plpgsql volatile as $$
begin
    if exists (select from {schema}.complete(p_holder, array[p_id], array[p_claim_no], array[p_tenant], array[p_micros],
            array[p_result], null, array[p_workflow])) then
        return false;
    end if;
    perform {schema}.fan_out(p_workflow, p_id, p_steps);
    return true;
end
$$;

-- Cancels the whole: canceled (waiting jobs are over, running ones are asked to end, and nothing of it starts any more) |
-- finished | compensating (its steps are over) | unknown. jobs: how many were still to end.
create function {schema}.cancel_workflow(p_id uuid, p_actor_type text default 'user', p_actor_id text default null,
    p_reason text default null, out status text, out jobs integer)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    flow {schema}.workflow;
    ids uuid[];
begin
    select * into flow from {schema}.workflow w where w.id = p_id and {schema}.in_scope(w.tenant_id) for update;
    jobs := 0;
    status := case when flow.id is null then 'unknown' when flow.finished_at is not null then 'finished'
                   when flow.verdict is not null then 'compensating' else 'canceled' end;
    if status <> 'canceled' then
        return;
    end if;
    update {schema}.workflow w set cancel_requested_at = coalesce(w.cancel_requested_at, {schema}.now()), sealed = true,
           cancel_reason = coalesce(p_reason, 'the workflow was canceled') where w.id = p_id;
    ids := array(select s.job_id from {schema}.workflow_step s where s.workflow_id = p_id and s.state in ('waiting', 'held', 'open'));
    jobs := cardinality(ids);
    perform {schema}.cancel_jobs(ids, p_actor_type, p_actor_id, coalesce(p_reason, 'the workflow was canceled'));
    perform {schema}.nudge_workflow(p_id);
end
$$;

-- The rows of these jobs' workflows, locked in their order. Steps that are replayed go back into them.
create function {schema}.lock_workflows_of(p_ids uuid[]) returns uuid[]
language plpgsql volatile as $$
declare
    ids uuid[] := array(select distinct s.workflow_id from {schema}.workflow_step s where s.job_id = any (p_ids) order by 1);
begin
    if ids <> '{}' then
        perform from {schema}.workflow w where w.id = any (ids) order by w.id for update;
    end if;
    return ids;
end
$$;

create function {schema}.step_taken_back(p_job uuid) returns boolean
language plpgsql stable as $$
begin
    return exists (
        select from {schema}.workflow_step s
         where s.job_id = p_job and s.role = 'step' and exists (
            select from {schema}.workflow_step c where c.workflow_id = s.workflow_id and c.role = 'compensation'));
end
$$;

-- Steps whose jobs were replayed (the old job and the new one, by turns) go on with the new ones, and with them what was
-- canceled for their sake only. Everything waits again; the next look lets go what need not.
create function {schema}.restart_steps(p_workflow uuid, p_jobs uuid[]) returns void
language plpgsql volatile as $$
declare
    own integer[];
    revived integer[];
    one record;
    body {schema}.job;
    made record;
begin
    -- A callback tells of an end that stays as it is.
    update {schema}.workflow_step s set job_id = p_jobs[u.i * 2], state = 'open', cause = null, ended_as = null
      from generate_series(1, cardinality(p_jobs) / 2) as u(i)
     where s.workflow_id = p_workflow and s.job_id = p_jobs[u.i * 2 - 1] and s.role in ('on_success', 'on_finish');
    with moved as (
        update {schema}.workflow_step s set job_id = p_jobs[u.i * 2], state = 'waiting', cause = null, ended_as = null, released = false
          from generate_series(1, cardinality(p_jobs) / 2) as u(i)
         where s.workflow_id = p_workflow and s.job_id = p_jobs[u.i * 2 - 1]
        returning s.no
    )
    select array_agg(m.no) into own from moved m;
    if own is null then
        return;
    end if;
    with recursive below (no) as (
        select c.no from {schema}.workflow_edge e join {schema}.workflow_step c on c.workflow_id = p_workflow and c.no = e.child
         where e.workflow_id = p_workflow and e.parent = any (own) and e.policy = 'cancel' and c.state = 'canceled' and c.cause = 'parent'
        union
        select c.no from below b join {schema}.workflow_edge e on e.workflow_id = p_workflow and e.parent = b.no and e.policy = 'cancel'
          join {schema}.workflow_step c on c.workflow_id = p_workflow and c.no = e.child and c.state = 'canceled' and c.cause = 'parent'
    ), tainted (no) as ( -- what another failure keeps down
        select b.no from below b join {schema}.workflow_edge e on e.workflow_id = p_workflow and e.child = b.no and e.policy = 'cancel'
          join {schema}.workflow_step p on p.workflow_id = p_workflow and p.no = e.parent and p.state in ('failed', 'canceled')
         where p.no not in (select x.no from below x)
        union
        select b.no from tainted t join {schema}.workflow_edge e on e.workflow_id = p_workflow and e.parent = t.no and e.policy = 'cancel'
          join below b on b.no = e.child
    )
    select array_agg(b.no) into revived from below b where b.no not in (select t.no from tainted t);
    for one in select s.no, s.job_id from {schema}.workflow_step s
                where s.workflow_id = p_workflow and s.no = any (revived) order by s.no loop
        select j.* into body from {schema}.any_job j where j.id = one.job_id;
        made := {schema}.enqueue_one(body.job_type, body.payload, body.tenant_id, body.priority, null, null, body.project_id,
            body.max_attempts, body.timeout_seconds, null, body.source, body.source_ref, body.actor_type, body.actor_id, body.request_id,
            body.correlation_id, body.traceparent, body.idempotency_key, body.id, p_workflow => p_workflow);
        update {schema}.workflow_step s set job_id = coalesce(made.id, s.job_id), state = case when made.id is null then 'failed' else 'waiting' end,
               cause = case when made.id is null then concat_ws(': ', made.status, made.detail) end, ended_as = null, released = false
         where s.workflow_id = p_workflow and s.no = one.no;
    end loop;
    perform {schema}.block_jobs(array(select s.job_id from {schema}.workflow_step s
                                       where s.workflow_id = p_workflow and s.no = any (own || revived) and s.state = 'waiting'));
    update {schema}.workflow w
       set status = case when w.verdict is not null and {schema}.rollback_begun(w.id) then 'compensating' else 'running' end,
           verdict = case when {schema}.rollback_begun(w.id) then w.verdict end,
           cancel_requested_at = case when {schema}.rollback_begun(w.id) then w.cancel_requested_at end,
           cancel_reason = case when {schema}.rollback_begun(w.id) then w.cancel_reason end, finished_at = null, looked_at = {schema}.now(),
           key = case when not exists (select from {schema}.workflow o where o.tenant_id = w.tenant_id and o.key = w.key
                                          and o.finished_at is null and o.id <> w.id) then w.key end,
           (succeeded, failed, canceled) = (
               select count(*) filter (where s.state = 'succeeded'), count(*) filter (where s.state = 'failed'),
                      count(*) filter (where s.state = 'canceled')
                 from {schema}.workflow_step s where s.workflow_id = p_workflow and s.role = 'step')
     where w.id = p_workflow;
    perform {schema}.nudge_workflow(p_workflow);
end
$$;

create function {schema}.rollback_begun(p_id uuid) returns boolean
language plpgsql stable as $$
begin
    return exists (select from {schema}.workflow_step s where s.workflow_id = p_id and s.role = 'compensation');
end
$$;

-- Runs everything again that did not succeed: one row a step that was asked for, as replay_jobs answers. No row: nothing is to
-- be retried, or there is no such workflow.
create function {schema}.retry_workflow(p_id uuid, p_actor_type text default 'user', p_actor_id text default null,
    p_confirm boolean default false)
returns table (name text, id uuid, status text, new_id uuid)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform from {schema}.workflow w where w.id = p_id and {schema}.in_scope(w.tenant_id) for update;
    if not found then
        return;
    end if;
    return query
    with asked as materialized (
        select s.name, s.job_id from {schema}.workflow_step s
         where s.workflow_id = p_id and s.role in ('step', 'compensation') and s.state in ('failed', 'canceled')
           and s.job_id is not null and s.cause is distinct from 'parent')
    select a.name, r.id, r.status, r.new_id
      from {schema}.replay_jobs((select array_agg(a.job_id) from asked a), p_actor_type, p_actor_id, p_confirm => p_confirm,
                                p_despite_success => true) r
      join asked a on a.job_id = r.id;
end
$$;

-- Lets held steps go on as if what failed had succeeded; NULL: all that are held. How many.
create function {schema}.release_steps(p_id uuid, p_names text[] default null) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    n integer;
begin
    perform from {schema}.workflow w where w.id = p_id and {schema}.in_scope(w.tenant_id) for update;
    if not found then
        return null;
    end if;
    update {schema}.workflow_step s set released = true, holds = 0, state = 'waiting'
     where s.workflow_id = p_id and s.state = 'held' and (p_names is null or s.name = any (p_names));
    get diagnostics n = row_count;
    if n > 0 then
        perform {schema}.nudge_workflow(p_id);
    end if;
    return n;
end
$$;

-- Workflows whose history is over, and whose callbacks have ended: at most so many steps of them. Positive: what is left of p_most.
create function {schema}.prune_workflows(p_most integer) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
    edge timestamptz := (select {schema}.now() - max(p.retention) from {schema}.partition_policy p);
    flow record;
    n integer;
begin
    for flow in select w.id from {schema}.workflow w
                 where w.finished_at < edge and not exists (
                    select from {schema}.workflow_step s where s.workflow_id = w.id and s.state in ('waiting', 'held', 'open') offset 0)
                 order by w.finished_at limit 100 for update skip locked loop
        delete from {schema}.workflow_edge e where e.workflow_id = flow.id;
        delete from {schema}.workflow_step s where s.ctid = any (array(
            select x.ctid from {schema}.workflow_step x where x.workflow_id = flow.id limit p_most));
        get diagnostics n = row_count;
        p_most := p_most - n;
        exit when p_most <= 0;
        delete from {schema}.workflow_inbox i where i.workflow_id = flow.id;
        delete from {schema}.workflow w where w.id = flow.id;
    end loop;
    return p_most;
end
$$;
