-- postmill: safe
-- Workflows as people and handlers read them, and the doors for requests.

-- What a job's handler is told: the workflow, the step, and of each parent how it ended and what it gave. A compensation is
-- told of the step that it takes back, a callback of no parents but of the counts.
create function {schema}.step_context(p_workflow uuid, p_job uuid) returns jsonb
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
    return (
        select jsonb_build_object('id', w.id, 'name', w.name, 'kind', w.kind, 'step', s.name, 'role', s.role, 'total', w.total,
                   'succeeded', w.succeeded, 'failed', w.failed, 'canceled', w.canceled, 'verdict', w.verdict, 'parents', coalesce((
                   select jsonb_agg(jsonb_build_object('name', p.name, 'job_id', p.job_id, 'status', p.state, 'result', o.result,
                                                       'fanned_from', f.name) order by p.no)
                     from (select e.parent as no from {schema}.workflow_edge e
                            where s.role = 'step' and e.workflow_id = w.id and e.child = s.no
                           union all select s.compensates where s.role = 'compensation') g
                     join {schema}.workflow_step p on p.workflow_id = w.id and p.no = g.no
                     left join {schema}.workflow_step f on f.workflow_id = w.id and f.no = p.fanned_from
                     left join lateral (select t.result from {schema}.outcome t where t.job_id = p.job_id and t.status = 'succeeded' limit 1) o on true
                   ), '[]'))
          from {schema}.workflow w
          join lateral (select x.* from {schema}.workflow_step x where x.job_id = p_job offset 0) s on s.workflow_id = w.id
         where w.id = p_workflow);
end
$$;

-- Which step of which workflow a job is: what its worker over HTTP is told with it.
create function {schema}.step_facts(p_workflow uuid, p_job uuid) returns jsonb
language plpgsql stable
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
    return (select jsonb_build_object('id', w.id, 'name', w.name, 'kind', w.kind, 'step', s.name, 'role', s.role, 'total', w.total)
              from {schema}.workflow w
              join lateral (select x.* from {schema}.workflow_step x where x.job_id = p_job offset 0) s on s.workflow_id = w.id
             where w.id = p_workflow);
end
$$;

-- Newest first, before p_before.
create function {schema}.read_workflows(p_most integer, p_before uuid default null, p_kind text default null, p_status text default null,
    p_name text default null)
returns table (id uuid, tenant_id uuid, kind text, name text, key text, status text, created_at timestamptz, finished_at timestamptz,
    sealed boolean, fail_fast boolean, verdict text, cancel_requested_at timestamptz, cancel_reason text, actor_type text, actor_id text,
    total integer, succeeded integer, failed integer, canceled integer, waiting bigint, held bigint, compensations bigint, compensated bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
    return query
    select w.id, w.tenant_id, w.kind, w.name, w.key, w.status, w.created_at, w.finished_at, w.sealed, w.fail_fast, w.verdict,
           w.cancel_requested_at, w.cancel_reason, w.actor_type, w.actor_id, w.total, w.succeeded, w.failed, w.canceled,
           (select count(*) from {schema}.workflow_step s where s.workflow_id = w.id and s.state = 'waiting'),
           (select count(*) from {schema}.workflow_step s where s.workflow_id = w.id and s.state = 'held'), c.n, c.done
      from (select f.* from {schema}.workflow f
             where (p_before is null or f.id < p_before) and (p_kind is null or f.kind = p_kind)
               and (p_status is null or f.status = p_status) and (p_name is null or f.name = p_name)
               and ((select {schema}.sees_all()) or f.tenant_id = (select {schema}.scope_tenant()))
             order by f.id desc limit p_most) w
      left join lateral (select count(*) as n, count(*) filter (where s.state = 'succeeded') as done
                           from {schema}.workflow_step s where w.verdict is not null and s.workflow_id = w.id and s.role = 'compensation') c on true
     order by w.id desc;
end
$$;

create function {schema}.read_workflow(p_id uuid)
returns table (id uuid, tenant_id uuid, kind text, name text, key text, status text, created_at timestamptz, finished_at timestamptz,
    sealed boolean, fail_fast boolean, verdict text, cancel_requested_at timestamptz, cancel_reason text, actor_type text, actor_id text,
    total integer, succeeded integer, failed integer, canceled integer, waiting bigint, held bigint, compensations bigint, compensated bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
    return query
    select w.id, w.tenant_id, w.kind, w.name, w.key, w.status, w.created_at, w.finished_at, w.sealed, w.fail_fast, w.verdict,
           w.cancel_requested_at, w.cancel_reason, w.actor_type, w.actor_id, w.total, w.succeeded, w.failed, w.canceled,
           (select count(*) from {schema}.workflow_step s where s.workflow_id = w.id and s.state = 'waiting'),
           (select count(*) from {schema}.workflow_step s where s.workflow_id = w.id and s.state = 'held'),
           (select count(*) from {schema}.workflow_step s where w.verdict is not null and s.workflow_id = w.id and s.role = 'compensation'),
           (select count(*) from {schema}.workflow_step s where w.verdict is not null and s.workflow_id = w.id and s.role = 'compensation'
                                                           and s.state = 'succeeded')
      from {schema}.workflow w where w.id = p_id;
end
$$;

-- The steps of a workflow after one, in their order. state as a job's: blocked (waits for parents), held, scheduled, queued,
-- running or how it ended. compensates, fanned_from: the names of those steps.
create function {schema}.read_workflow_steps(p_id uuid, p_after integer default 0, p_most integer default 1000)
returns table (no integer, name text, role text, job_type text, job_id uuid, state text, waits integer, cause text, compensates integer,
    fanned_from integer, has_compensation boolean)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
    return query
    select s.no, s.name, s.role, s.job_type, s.job_id,
           case when s.state = 'waiting' then 'blocked'
                when s.state = 'failed' then case when x.id is not null then 'dead_letter' else 'failed' end
                when s.state <> 'open' then s.state
                when r.id is not null then 'running' when l.id is not null then 'scheduled' else 'queued' end,
           s.waits, s.cause, s.compensates, s.fanned_from, s.compensation is not null
      from (select f.* from {schema}.workflow_step f where f.workflow_id = p_id and f.no > p_after order by f.no limit p_most) s
      left join lateral (select t.id from {schema}.running t where s.state = 'open' and t.id = s.job_id offset 0) r on true
      left join lateral (select t.id from {schema}.scheduled t where s.state = 'open' and t.id = s.job_id offset 0) l on true
      left join lateral (select t.id from {schema}.dead_letter t where s.state = 'failed' and t.id = s.job_id offset 0) x on true
     order by s.no;
end
$$;

-- The lines between steps, by their numbers, from the one after (p_parent, p_child).
create function {schema}.read_workflow_edges(p_id uuid, p_parent integer default 0, p_child integer default 0, p_most integer default 10000)
returns table (parent integer, child integer, policy text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
    return query
    select e.parent, e.child, e.policy from {schema}.workflow_edge e
     where e.workflow_id = p_id and (e.parent, e.child) > (p_parent, p_child) order by e.parent, e.child limit p_most;
end
$$;

-- The step that a job is or was: also the older ones of a step that was replayed. No row: it is in no workflow. failed, pending:
-- the first ten parents that did not succeed, or have not ended; a compensation is told as what it undoes.
create function {schema}.read_step_of(p_job uuid)
returns table (workflow_id uuid, workflow text, kind text, status text, no integer, step text, role text, state text, waits integer,
    failed text[], pending text[])
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
    return query
    select w.id, w.name, w.kind, w.status, s.no, s.name, s.role, s.state, s.waits,
           coalesce(p.failed[1:10], '{}'), coalesce(p.pending[1:10], '{}')
      from (select f.workflow_id from {schema}.any_job f where f.id = p_job offset 0) j
      join {schema}.workflow w on w.id = j.workflow_id
      -- Fenced: by its workflow all of that would be read.
      left join lateral (select x.* from {schema}.workflow_step x where x.job_id = p_job offset 0) s on s.workflow_id = w.id
      left join lateral (
        select array_agg(n.name order by n.name) filter (where n.state in ('failed', 'canceled')) as failed,
               array_agg(n.name order by n.name) filter (where n.state in ('waiting', 'held', 'open')) as pending
          from (select f.state, coalesce(f.name, 'undo ' || c.name, f.no::text) as name
                  from (select x.parent from {schema}.workflow_edge x where x.workflow_id = w.id and x.child = s.no offset 0) e
                 cross join lateral (select x.* from {schema}.workflow_step x where x.workflow_id = w.id and x.no = e.parent offset 0) f
                  left join lateral (select x.name from {schema}.workflow_step x
                                      where x.workflow_id = w.id and x.no = f.compensates offset 0) c on true) n) p on true;
end
$$;

-- Doors: who asks is the request's actor, where is the request's scope.
create function {schema}.door_start_workflow(p_spec jsonb, p_tenant uuid default null, p_project uuid default null,
    p_correlation_id text default null, p_traceparent text default null, p_actor_type text default null, p_actor_id text default null,
    out id uuid, out status text, out detail text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    origin text := nullif(current_setting('postmill.request_id', true), '');
    owner_tenant uuid := coalesce(p_tenant, {schema}.scope_tenant(), '00000000-0000-0000-0000-000000000001');
    standing text := (select t.status from {schema}.tenant t where t.id = owner_tenant);
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    status := case when standing is null or not {schema}.in_scope(owner_tenant) then 'unknown_tenant'
                   when standing = 'suspended' then 'suspended'
                   when p_project is not null and not exists (
                        select from {schema}.project p where p.id = p_project and p.tenant_id = owner_tenant) then 'unknown_project' end;
    if status is not null then
        return;
    end if;
    perform set_config('lock_timeout', '5s', true);
    select s.id, s.status, s.detail into id, status, detail
      from {schema}.start_workflow(p_spec, owner_tenant, p_project, {schema}.acting_type(), {schema}.acting_id(), origin,
                                   coalesce(p_correlation_id, origin), p_traceparent) s;
    if status = 'created' then
        perform {schema}.audit(case coalesce(p_spec ->> 'kind', 'workflow') when 'batch' then 'batches.start' else 'workflows.start' end,
            'workflow', id::text, owner_tenant, null,
            (select jsonb_build_object('name', w.name, 'total', w.total) from {schema}.workflow w where w.id = door_start_workflow.id));
    end if;
end
$$;

create function {schema}.door_add_jobs(p_id uuid, p_jobs jsonb, p_actor_type text default null, p_actor_id text default null,
    out status text, out detail text, out total integer)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    perform set_config('lock_timeout', '5s', true);
    select a.status, a.detail, a.total into status, detail, total from {schema}.add_jobs(p_id, p_jobs) a;
    if status = 'created' then
        perform {schema}.audit('batches.add', 'workflow', p_id::text, w.tenant_id, null, jsonb_build_object('total', door_add_jobs.total))
           from {schema}.workflow w where w.id = p_id;
    end if;
end
$$;

create function {schema}.door_seal_batch(p_id uuid, p_actor_type text default null, p_actor_id text default null) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    status text;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    status := {schema}.seal_batch(p_id);
    if status = 'sealed' then
        perform {schema}.audit('batches.seal', 'workflow', p_id::text, w.tenant_id, jsonb_build_object('sealed', false),
            jsonb_build_object('sealed', true, 'total', w.total)) from {schema}.workflow w where w.id = p_id;
    end if;
    return status;
end
$$;

create function {schema}.door_cancel_workflow(p_id uuid, p_reason text default null, p_actor_type text default null,
    p_actor_id text default null, out status text, out jobs integer)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    before text := (select w.status from {schema}.workflow w where w.id = p_id);
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    select c.status, c.jobs into status, jobs
      from {schema}.cancel_workflow(p_id, {schema}.acting_type(), {schema}.acting_id(), p_reason) c;
    if status = 'canceled' then
        perform {schema}.audit('workflows.cancel', 'workflow', p_id::text, w.tenant_id, jsonb_build_object('status', before),
            jsonb_build_object('cancel_requested', true, 'jobs', door_cancel_workflow.jobs), p_reason)
           from {schema}.workflow w where w.id = p_id;
    end if;
end
$$;

create function {schema}.door_retry_workflow(p_id uuid, p_confirm boolean default false, p_actor_type text default null,
    p_actor_id text default null)
returns table (name text, id uuid, status text, new_id uuid)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    before text := (select w.status from {schema}.workflow w where w.id = p_id);
    n integer := 0;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    for name, id, status, new_id in
        select r.name, r.id, r.status, r.new_id
          from {schema}.retry_workflow(p_id, {schema}.acting_type(), {schema}.acting_id(), p_confirm) r loop
        n := n + case when status = 'replayed' then 1 else 0 end;
        return next;
    end loop;
    if n > 0 then
        perform {schema}.audit('workflows.retry', 'workflow', p_id::text, w.tenant_id, jsonb_build_object('status', before),
            jsonb_build_object('status', w.status, 'replayed', n)) from {schema}.workflow w where w.id = p_id;
    end if;
end
$$;

-- How many were released; NULL: there is no such workflow.
create function {schema}.door_release_steps(p_id uuid, p_names text[] default null, p_reason text default null,
    p_actor_type text default null, p_actor_id text default null) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    n integer;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    n := {schema}.release_steps(p_id, p_names);
    if n > 0 then
        perform {schema}.audit('workflows.release', 'workflow', p_id::text, w.tenant_id, null,
            jsonb_strip_nulls(jsonb_build_object('released', n, 'steps', to_jsonb(p_names))), p_reason) from {schema}.workflow w where w.id = p_id;
    end if;
    return n;
end
$$;

-- What an HTTP worker is told of the workflow of the job that it holds: told | none (it is in no workflow) | over (it holds the job
-- no more) | unknown.
create function {schema}.door_work_workflow(p_id uuid, p_holder uuid, p_claim_no bigint, out status text, out told jsonb)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if {schema}.held_tenant(p_id, p_holder, p_claim_no) is null then
        select b.status into status from {schema}.door_begin_artifact(p_id, p_holder, p_claim_no) b;
        return;
    end if;
    select {schema}.step_context(j.workflow_id, p_id) into told from {schema}.any_job j where j.id = p_id and j.workflow_id is not null;
    status := case when told is null then 'none' else 'told' end;
end
$$;

-- The steps that come with the success of the job that an HTTP worker holds, in the same transaction and before it: made |
-- refused (detail) | over.
create function {schema}.door_fan_work(p_id uuid, p_holder uuid, p_claim_no bigint, p_steps jsonb, out status text, out detail text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    if {schema}.held_tenant(p_id, p_holder, p_claim_no) is null then
        status := 'over';
        return;
    end if;
    perform {schema}.fan_out(j.workflow_id, p_id, p_steps) from {schema}.any_job j where j.id = p_id;
    status := 'made';
exception
    when sqlstate 'PM002' or invalid_text_representation or datetime_field_overflow or invalid_datetime_format
        or numeric_value_out_of_range or invalid_parameter_value then
        status := 'refused';
        detail := left(replace(sqlerrm, 'postmill: ', ''), 500);
end
$$;

select {schema}.secure_requests();
