-- postmill: safe
-- Workflows: jobs that wait for one another. And batches: any number of jobs, watched together.
--
-- A step is a row of its own beside its job. Who ends a job of a workflow writes one line into the workflow's inbox, in the
-- same transaction and locking nothing: a report never waits for anybody's open transaction. Whoever holds the workflow's row
-- reads the inbox and moves the steps on (0062). A line is read only after its commit, and who could not get the row tries
-- again, so no end is overlooked however many come at the same instant.

create table {schema}.workflow (
    id uuid primary key,
    tenant_id uuid not null,
    project_id uuid,
    kind text collate "C" not null check (kind in ('workflow', 'batch')),
    name text not null,
    key text collate "C",
    -- held: nothing moves before an operator releases, cancels or replays a step. compensating: what succeeded is taken back.
    status text collate "C" not null default 'running'
        check (status in ('running', 'held', 'compensating', 'succeeded', 'failed', 'canceled')),
    created_at timestamptz not null,
    finished_at timestamptz,
    sealed boolean not null, -- no more jobs come: a batch that is open never ends
    fail_fast boolean not null,
    verdict text collate "C", -- how the steps came out, from their end on
    cancel_requested_at timestamptz,
    cancel_reason text,
    actor_type text collate "C" not null,
    actor_id text,
    request_id text,
    correlation_id text,
    traceparent text,
    on_success jsonb,
    on_finish jsonb,
    total integer not null default 0,
    succeeded integer not null default 0,
    failed integer not null default 0,
    canceled integer not null default 0,
    last_no integer not null default 0,
    looked_at timestamptz not null,
    looked_no integer not null default 0
);
create unique index workflow_key on {schema}.workflow (tenant_id, key) where key is not null and finished_at is null;
create index workflow_of_tenant on {schema}.workflow (tenant_id, id);
create index workflow_live on {schema}.workflow (looked_at) where finished_at is null;
create index workflow_finished on {schema}.workflow (finished_at) where finished_at is not null;

-- waits: parents that have not ended. holds: ended ones of whose failure an operator must hear. cause: parent = canceled since
-- a step that it waits for did not succeed. compensates, fanned_from: the step that it takes back, or that made it.
create table {schema}.workflow_step (
    workflow_id uuid not null,
    no integer not null,
    tenant_id uuid not null,
    name text collate "C",
    role text collate "C" not null default 'step' check (role in ('step', 'compensation', 'on_success', 'on_finish')),
    job_type text collate "C" not null,
    job_id uuid,
    state text collate "C" not null check (state in ('waiting', 'held', 'open', 'succeeded', 'failed', 'canceled')),
    waits integer not null default 0,
    holds integer not null default 0,
    released boolean not null default false,
    cause text collate "C",
    delay interval,
    compensation jsonb,
    compensates integer,
    fanned_from integer,
    ended_seq bigint,
    primary key (workflow_id, no)
);
create unique index workflow_step_name on {schema}.workflow_step (workflow_id, name) where name is not null;
create index workflow_step_job on {schema}.workflow_step (job_id);
create index workflow_step_live on {schema}.workflow_step (workflow_id, state) where state in ('waiting', 'held', 'open');
create index workflow_step_free on {schema}.workflow_step (workflow_id) where state = 'waiting' and waits = 0;

create table {schema}.workflow_edge (
    workflow_id uuid not null,
    parent integer not null,
    child integer not null,
    tenant_id uuid not null,
    policy text collate "C" not null check (policy in ('cancel', 'continue', 'hold')),
    primary key (workflow_id, parent, child)
);
create index workflow_edge_child on {schema}.workflow_edge (workflow_id, child);

-- A line without a job: look at everything anew.
create table {schema}.workflow_inbox (
    workflow_id uuid not null,
    seq bigint generated always as identity,
    job_id uuid,
    state text collate "C",
    primary key (workflow_id, seq)
);
alter table {schema}.workflow_inbox set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
    autovacuum_vacuum_cost_delay = 0);

-- Wakes whoever moves workflows on.
create function {schema}.nudge_workflow(p_id uuid) returns void
language plpgsql volatile as $$
begin
    insert into {schema}.workflow_inbox (workflow_id) values (p_id);
    perform {schema}.tell('!workflows');
end
$$;

-- What is wrong with steps that are to be added, in words; NULL: nothing. A step names its parents in `after`, each as a name
-- or as {"step", "failure"}; they come before it, in this list or in what the workflow has, so that a cycle cannot be said.
create function {schema}.fault_of_steps(p_workflow uuid, p_kind text, p_steps jsonb, p_have integer) returns text
language plpgsql volatile as $$
declare
    most constant integer := 10000;
    wide integer;
    fault text;
begin
    if jsonb_typeof(p_steps) is distinct from 'array' then
        return 'steps: must be a JSON array';
    end if;
    wide := jsonb_array_length(p_steps);
    if p_kind = 'workflow' and p_have + wide > most then
        return format('steps: %s are too many; a workflow has at most %s', p_have + wide, most);
    elsif p_kind = 'workflow' and p_have + wide = 0 then
        return 'steps: there are none';
    end if;
    with given as materialized (
        select t.item, t.n, t.item ->> 'name' as name from jsonb_array_elements(p_steps) with ordinality as t(item, n)
    ), before as materialized (
        select g.name, g.n from given g
        union all select s.name, 0 from {schema}.workflow_step s where s.workflow_id = p_workflow and s.name is not null
    ), edges as materialized (
        select g.n, g.name, coalesce(e.one ->> 'step', e.one #>> '{}') as parent, e.one ->> 'failure' as failure
          from given g cross join lateral jsonb_array_elements(case when jsonb_typeof(g.item -> 'after') = 'array'
                                                                    then g.item -> 'after' else '[]' end) as e(one)
    )
    select f.what into fault from (
        select format('steps[%s]: must be an object with a job_type', g.n - 1) as what, 1 as rank, g.n
          from given g where jsonb_typeof(g.item) is distinct from 'object' or jsonb_typeof(g.item -> 'job_type') is distinct from 'string'
        union all
        select format('steps[%s].name: must have 1 to 200 characters', g.n - 1), 2, g.n from given g
         where p_kind = 'workflow' and coalesce(length(g.name), 0) not between 1 and 200
        union all
        select format('steps: the name "%s" is there twice', b.name), 3, max(b.n) from before b
         where b.name is not null group by b.name having count(*) > 1
        union all
        select format('step "%s": "%s" is no step', e.name, left(e.parent, 200)), 4, e.n from edges e
         where not exists (select from before b where b.name = e.parent)
        union all
        select format('step "%s": waits for "%s", which comes later; name parents before their children, without a cycle',
                      e.name, e.parent), 5, e.n
          from edges e join before b on b.name = e.parent where b.n >= e.n
        union all
        select format('step "%s": failure is none of cancel, continue, hold', g.name), 6, g.n from given g
         where g.item ->> 'parent_failure' not in ('cancel', 'continue', 'hold')
        union all
        select format('step "%s": failure is none of cancel, continue, hold', e.name), 6, e.n from edges e
         where e.failure not in ('cancel', 'continue', 'hold')
        union all
        select format('steps[%s].%s', g.n - 1, {schema}.fault_of_tags(g.item -> 'tags')), 6, g.n from given g
         where g.item ? 'tags' and {schema}.fault_of_tags(g.item -> 'tags') is not null
        union all
        select format('steps: %s lines between them are too many; a workflow has at most 100000', count(*)), 7, 0
          from edges having count(*) > 100000
    ) f order by f.rank, f.n limit 1;
    return fault;
end
$$;

-- One job of a workflow, as its spec says. p_no names the step where its definition asks for a key in the envelope.
create function {schema}.enqueue_step(p_flow {schema}.workflow, p_spec jsonb, p_no text, out id uuid, out status text, out detail text)
language plpgsql volatile as $$
begin
    select e.id, e.status, e.detail into id, status, detail
      from {schema}.enqueue_one(p_spec ->> 'job_type', coalesce(p_spec -> 'payload', '{}'), p_flow.tenant_id,
          (p_spec ->> 'priority')::integer, null, (p_spec ->> 'scheduled_for')::timestamptz, p_flow.project_id,
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
    select d.guarded, d.is_active into definition from {schema}.job_definition d where d.key = p_spec ->> 'job_type';
    if not found or not definition.is_active then
        select coalesce(r.detail, r.status), p_spec ->> 'job_type' into status, detail
          from {schema}.refusal(p_spec ->> 'job_type') r where r.status <> 'alias';
        return;
    end if;
    detail := case when p_spec ? 'tags' then {schema}.fault_of_tags(p_spec -> 'tags') end;
    detail := coalesce(detail, {schema}.fault_of(coalesce(p_spec -> 'payload', '{}'), null, null, (p_spec ->> 'max_attempts')::integer,
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

-- Makes steps and their jobs; the caller holds the workflow's row. p_after: the step that fans them out. They wait for it, and
-- whoever waits for it waits for them, too. Nothing is caught: an answer other than NULL is to be undone by the caller.
create function {schema}.add_steps(p_flow {schema}.workflow, p_steps jsonb, p_after integer default null, out status text, out detail text)
language plpgsql volatile
set plan_cache_mode = force_custom_plan as $$
declare
    base constant integer := p_flow.last_no;
    wide integer;
    made record;
    one record;
    ids uuid[];
begin
    detail := {schema}.fault_of_steps(p_flow.id, p_flow.kind, p_steps, base);
    if detail is not null then
        status := 'invalid';
        return;
    end if;
    wide := jsonb_array_length(p_steps);
    if wide = 0 then
        return;
    end if;
    for one in select t.item, t.n from jsonb_array_elements(p_steps) with ordinality as t(item, n) where t.item -> 'compensate' is not null loop
        select f.status, f.detail into status, detail
          from {schema}.fault_of_spec(p_flow, format('step "%s": compensate', one.item ->> 'name'), one.item -> 'compensate') f;
        if status is not null then
            return;
        end if;
    end loop;
    select array_agg(t.n::integer order by t.n) as n, array_agg(t.item ->> 'job_type' order by t.n) as types,
           array_agg(coalesce(t.item -> 'payload', '{}') order by t.n) as payloads,
           array_agg((t.item ->> 'priority')::integer order by t.n) as priorities,
           -- What waits for a parent counts its delay from when that has ended.
           array_agg(case when p_after is null and coalesce(jsonb_array_length(t.item -> 'after'), 0) = 0
                          then (t.item ->> 'delay')::double precision * interval '1 second' end order by t.n) as delays,
           array_agg((t.item ->> 'scheduled_for')::timestamptz order by t.n) as moments,
           array_agg((t.item ->> 'max_attempts')::integer order by t.n) as attempts,
           array_agg((t.item ->> 'timeout')::double precision order by t.n) as timeouts
      into made from jsonb_array_elements(p_steps) with ordinality as t(item, n);
    for one in
        select e.n, e.id, e.status, e.detail from {schema}.enqueue_plain(made.n, made.types, made.payloads,
            array_fill(p_flow.tenant_id, array[wide]), made.priorities, made.delays, made.moments, array_fill(p_flow.project_id, array[wide]),
            made.attempts, made.timeouts, null, array_fill('system'::text, array[wide]), array_fill(p_flow.name, array[wide]),
            array_fill(p_flow.actor_type, array[wide]), array_fill(p_flow.actor_id, array[wide]), array_fill(p_flow.request_id, array[wide]),
            array_fill(coalesce(p_flow.correlation_id, p_flow.id::text), array[wide]), array_fill(p_flow.traceparent, array[wide]), null,
            p_workflow => p_flow.id) e
    loop
        if one.status = 'incomplete' and one.detail = 'idempotency_key' then
            select e.* into one.id, one.status, one.detail from {schema}.enqueue_step(p_flow, p_steps -> (one.n - 1), (base + one.n)::text) e;
        end if;
        if one.status <> 'created' then
            status := case when one.detail = 'may_register' then one.detail else one.status end;
            detail := case when one.status in ('unknown_type', 'inactive', 'unencrypted') then made.types[one.n]
                           else concat_ws(': ', 'step "' || (p_steps -> (one.n - 1) ->> 'name') || '"', one.detail) end;
            return;
        end if;
        ids[one.n] := one.id;
        if p_steps -> (one.n - 1) ? 'tags' then
            perform {schema}.keep_tags(one.id, p_flow.tenant_id, p_steps -> (one.n - 1) -> 'tags');
        end if;
    end loop;
    with edges as materialized (
        select base + t.n::integer as child, coalesce(p.no, base + g.n::integer) as parent,
               coalesce(e.one ->> 'failure', t.item ->> 'parent_failure', 'cancel') as policy
          from jsonb_array_elements(p_steps) with ordinality as t(item, n)
         cross join lateral jsonb_array_elements(coalesce(t.item -> 'after', '[]')) as e(one)
          left join jsonb_array_elements(p_steps) with ordinality as g(item, n) on g.item ->> 'name' = coalesce(e.one ->> 'step', e.one #>> '{}')
          left join {schema}.workflow_step p on p.workflow_id = p_flow.id and p.name = coalesce(e.one ->> 'step', e.one #>> '{}')
        union
        select base + t.n::integer, p_after, coalesce(t.item ->> 'parent_failure', 'cancel')
          from jsonb_array_elements(p_steps) with ordinality as t(item, n)
         where p_after is not null and coalesce(jsonb_array_length(t.item -> 'after'), 0) = 0
        union -- who waits for the step that fans out
        select x.child, base + t.n::integer, x.policy
          from {schema}.workflow_edge x cross join jsonb_array_elements(p_steps) with ordinality as t(item, n)
         where x.workflow_id = p_flow.id and x.parent = p_after
    ), made_edges as (
        insert into {schema}.workflow_edge (workflow_id, parent, child, tenant_id, policy)
        select distinct on (e.parent, e.child) p_flow.id, e.parent, e.child, p_flow.tenant_id, e.policy from edges e
         order by e.parent, e.child
        on conflict do nothing
    ), later as (
        update {schema}.workflow_step s set waits = s.waits + x.n
          from (select e.child, count(*) as n from edges e where e.child <= base group by e.child) x
         where s.workflow_id = p_flow.id and s.no = x.child
    )
    insert into {schema}.workflow_step (workflow_id, no, tenant_id, name, job_type, job_id, state, waits, delay, compensation, fanned_from)
    select p_flow.id, base + t.n::integer, p_flow.tenant_id, t.item ->> 'name', t.item ->> 'job_type', ids[t.n],
           case when x.n > 0 then 'waiting' else 'open' end, coalesce(x.n, 0),
           (t.item ->> 'delay')::double precision * interval '1 second', t.item -> 'compensate', p_after
      from jsonb_array_elements(p_steps) with ordinality as t(item, n)
      left join (select e.child, count(*) as n from (select distinct e.parent, e.child from edges e) e group by e.child) x on x.child = base + t.n;
    perform {schema}.block_jobs(array(select s.job_id from {schema}.workflow_step s
                                       where s.workflow_id = p_flow.id and s.no > base and s.state = 'waiting'));
    update {schema}.workflow w set last_no = base + wide, total = w.total + wide where w.id = p_flow.id;
end
$$;

-- Starts a workflow or a batch. Never raises for a refusal. created | duplicate (its key belongs to a live one: id) | invalid
-- (detail) | busy | serialization, and what enqueue_one says of a step (detail names it, or its type). may_register: its type is
-- unknown, and this role could make it known.
create function {schema}.start_workflow(p_spec jsonb, p_tenant uuid default null, p_project uuid default null,
    p_actor_type text default 'system', p_actor_id text default null, p_request_id text default null,
    p_correlation_id text default null, p_traceparent text default null, out id uuid, out status text, out detail text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    flow {schema}.workflow;
begin
    flow.tenant_id := coalesce(p_tenant, '00000000-0000-0000-0000-000000000001');
    flow.kind := coalesce(p_spec ->> 'kind', 'workflow');
    flow.name := p_spec ->> 'name';
    flow.key := p_spec ->> 'key';
    detail := case
        when jsonb_typeof(p_spec) is distinct from 'object' then 'must be a JSON object'
        when flow.kind not in ('workflow', 'batch') then 'kind: is none of workflow, batch'
        when coalesce(octet_length(flow.name), 0) not between 1 and 200 then 'name: must have 1 to 200 bytes'
        when octet_length(flow.key) not between 1 and 512 then 'key: must have 1 to 512 bytes'
        when not exists (select from {schema}.tenant t where t.id = flow.tenant_id) then 'tenant: there is no such tenant' end;
    if detail is not null then
        status := 'invalid';
        return;
    end if;
    begin
        insert into {schema}.workflow as w (id, tenant_id, project_id, kind, name, key, created_at, sealed, fail_fast, actor_type, actor_id,
            request_id, correlation_id, traceparent, on_success, on_finish, looked_at)
        values ({schema}.new_id(), flow.tenant_id, p_project, flow.kind, flow.name, flow.key, {schema}.now(),
            coalesce((p_spec ->> 'sealed')::boolean, true), coalesce((p_spec ->> 'fail_fast')::boolean, false),
            coalesce(p_actor_type, 'system'), p_actor_id, p_request_id, p_correlation_id, p_traceparent,
            p_spec -> 'on_success', p_spec -> 'on_finish', {schema}.now())
        on conflict (tenant_id, key) where key is not null and finished_at is null do nothing
        returning w.* into flow;
        if flow.id is null then
            select w.id into id from {schema}.workflow w
             where w.tenant_id = coalesce(p_tenant, '00000000-0000-0000-0000-000000000001') and w.key = p_spec ->> 'key' and w.finished_at is null;
            status := case when id is null then 'serialization' else 'duplicate' end;
            return;
        end if;
        select f.status, f.detail into status, detail from {schema}.fault_of_spec(flow, 'on_success', flow.on_success) f;
        if status is null then
            select f.status, f.detail into status, detail from {schema}.fault_of_spec(flow, 'on_finish', flow.on_finish) f;
        end if;
        if status is null then
            select a.status, a.detail into status, detail from {schema}.add_steps(flow, coalesce(p_spec -> 'steps', '[]')) a;
        end if;
        if status is not null then
            raise exception using errcode = 'PM001';
        end if;
        if flow.sealed and flow.kind = 'batch' then
            perform {schema}.nudge_workflow(flow.id); -- it may have no jobs at all
        end if;
        id := flow.id;
        status := 'created';
    exception
        when sqlstate 'PM001' then
            id := null;
        when lock_not_available then
            id := null;
            status := 'busy';
        when deadlock_detected or serialization_failure then
            id := null;
            status := 'serialization';
        when invalid_text_representation or datetime_field_overflow or invalid_datetime_format or numeric_value_out_of_range
            or invalid_parameter_value then
            id := null;
            status := 'invalid';
            detail := left(sqlerrm, 500);
    end;
end
$$;
