-- postmill: safe
-- Bulk acts on dead letters that outlive whoever began them: exactly those selected at the start, each once, by any
-- worker's round of upkeep, at a rate, after a canary, to be paused, resumed and aborted.

-- tenant_id: whose letters; NULL: of several. total, done (replayed or discarded), skipped, failed: counts of its items.
-- taken_at: up to which moment the rate's allowance is used up. twins_at: when later jobs that do the same were looked for.
create table {schema}.operation (
    id uuid primary key,
    tenant_id uuid,
    kind text collate "C" not null check (kind in ('replay', 'discard')),
    status text collate "C" not null default 'running' check (status in ('running', 'paused', 'finished', 'aborted')),
    stage text collate "C" not null check (stage in ('canary', 'rest')),
    filter jsonb not null,
    rate double precision check (rate > 0),
    canary integer not null default 0 check (canary >= 0),
    again boolean not null default false,
    confirm boolean not null default false,
    despite_success boolean not null default false,
    version integer,
    reason text,
    total integer not null,
    done integer not null default 0,
    skipped integer not null default 0,
    failed integer not null default 0,
    twins_at timestamptz,
    taken_at timestamptz,
    actor_type text collate "C" not null,
    actor_id text,
    actor_role text collate "C",
    request_id text,
    created_at timestamptz not null,
    started_at timestamptz,
    paused_at timestamptz,
    paused_by text,
    pause_reason text,
    ended_at timestamptz
);
create index operation_running on {schema}.operation (id) where status = 'running';
create index operation_tenant on {schema}.operation (tenant_id, id);

-- status NULL: not tried yet. new_id: the replay, or the job that the status names. print, key_print: hashes of its type and
-- payload, and of its key. twins: later jobs that have one of them.
create table {schema}.operation_item (
    operation_id uuid not null,
    n integer not null,
    job_id uuid not null,
    tenant_id uuid not null,
    status text collate "C",
    new_id uuid,
    detail text,
    tries integer not null default 0,
    print bigint,
    key_print bigint,
    twins uuid[],
    at timestamptz,
    primary key (operation_id, n)
);
create index operation_item_waiting on {schema}.operation_item (operation_id, n) where status is null;
create index operation_item_print on {schema}.operation_item (operation_id, tenant_id, print) where status is null;
create index operation_item_key on {schema}.operation_item (operation_id, tenant_id, key_print) where status is null and key_print is not null;
create index operation_item_replay on {schema}.operation_item (operation_id) where status = 'replayed';

-- Selects the letters of the filter, the oldest first, and begins. started | none (nothing matches).
create function {schema}.door_start_operation(p_kind text, p_filter jsonb, p_options jsonb, p_reason text default null,
    p_actor_type text default null, p_actor_id text default null, out id uuid, out status text, out total integer)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    own uuid := coalesce((p_filter ->> 'tenant_id')::uuid, {schema}.scope_tenant());
    canaries integer := coalesce((p_options ->> 'canary')::integer, 0);
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    id := {schema}.new_id();
    insert into {schema}.operation_item (operation_id, n, job_id, tenant_id)
    select door_start_operation.id, row_number() over (order by l.failed_at, l.id), l.id, l.tenant_id
      from {schema}.read_letters_matching(p_filter) l;
    get diagnostics total = row_count;
    if total = 0 then
        id := null;
        status := 'none';
        return;
    end if;
    insert into {schema}.operation (id, tenant_id, kind, stage, filter, rate, canary, again, confirm, despite_success, version,
           reason, total, actor_type, actor_id, actor_role, request_id, created_at)
    values (id, own, p_kind, case when canaries > 0 then 'canary' else 'rest' end, p_filter,
            (p_options ->> 'rate')::double precision, canaries, coalesce((p_options ->> 'again')::boolean, false),
            coalesce((p_options ->> 'confirm')::boolean, false), coalesce((p_options ->> 'despite_success')::boolean, false),
            (p_options ->> 'version')::integer, p_reason, total, {schema}.acting_type(), {schema}.acting_id(),
            nullif(current_setting('postmill.actor_role', true), ''), nullif(current_setting('postmill.request_id', true), ''),
            {schema}.now());
    perform {schema}.audit('operations.start', 'operation', id::text, own, null,
        jsonb_build_object('kind', p_kind, 'filter', p_filter, 'options', p_options, 'total', total), p_reason);
    perform {schema}.tell('!operations');
    status := 'started';
end
$$;

-- paused | resumed | aborted | unchanged (it is so already) | ended | unknown. A resumed canary that failed goes on with the
-- rest: somebody has looked.
create function {schema}.door_change_operation(p_id uuid, p_verb text, p_reason text default null, p_actor_type text default null,
    p_actor_id text default null, out status text, out kind text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    op {schema}.operation;
    wanted constant text := case p_verb when 'pause' then 'paused' when 'resume' then 'running' else 'aborted' end;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    select o.* into op from {schema}.operation o where o.id = p_id for update;
    if op.id is null or not {schema}.in_scope(op.tenant_id) then
        status := 'unknown';
        return;
    end if;
    kind := op.kind;
    if op.status = wanted then
        status := 'unchanged';
        return;
    elsif op.status in ('finished', 'aborted') then
        status := 'ended';
        return;
    end if;
    status := case p_verb when 'pause' then 'paused' when 'resume' then 'resumed' else 'aborted' end;
    update {schema}.operation o
       set status = wanted, taken_at = null,
           stage = case when p_verb = 'resume' and o.pause_reason like 'canary:%' then 'rest' else o.stage end,
           paused_at = case when p_verb = 'pause' then {schema}.now() when p_verb = 'resume' then null else o.paused_at end,
           paused_by = case when p_verb = 'pause' then {schema}.acting_id() when p_verb = 'resume' then null else o.paused_by end,
           pause_reason = case when p_verb = 'pause' then p_reason when p_verb = 'resume' then null else o.pause_reason end,
           ended_at = case when p_verb = 'abort' then {schema}.now() end
     where o.id = p_id;
    perform {schema}.audit('operations.' || p_verb, 'operation', p_id::text, op.tenant_id,
        jsonb_build_object('status', op.status, 'stage', op.stage, 'done', op.done), jsonb_build_object('status', wanted), p_reason);
    perform {schema}.tell('!operations');
end
$$;

create function {schema}.read_operations(p_id uuid default null, p_before uuid default 'ffffffff-ffff-ffff-ffff-ffffffffffff',
    p_most integer default 50, p_open boolean default false)
returns table (id uuid, tenant_id uuid, kind text, status text, stage text, filter jsonb, rate double precision, canary integer,
    again boolean, confirm boolean, despite_success boolean, version integer, reason text, total integer, done integer,
    skipped integer, failed integer, actor_type text, actor_id text, created_at timestamptz, started_at timestamptz,
    paused_at timestamptz, paused_by text, pause_reason text, ended_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select o.id, o.tenant_id, o.kind, o.status, o.stage, o.filter, o.rate, o.canary, o.again, o.confirm, o.despite_success,
           o.version, o.reason, o.total, o.done, o.skipped, o.failed, o.actor_type, o.actor_id, o.created_at, o.started_at,
           o.paused_at, o.paused_by, o.pause_reason, o.ended_at
      from {schema}.operation o
     where (p_id is null or o.id = p_id) and o.id < p_before and (not p_open or o.status in ('running', 'paused'))
     order by o.id desc limit p_most;
end
$$;

-- What became of each letter; p_status: only of those, `waiting` of those not tried yet.
create function {schema}.read_operation_items(p_id uuid, p_status text default null, p_after integer default 0,
    p_most integer default 100)
returns table (n integer, job_id uuid, status text, new_id uuid, detail text, at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select i.n, i.job_id, coalesce(i.status, 'waiting'), i.new_id, i.detail, i.at from {schema}.operation_item i
     where i.operation_id = p_id and i.n > p_after and (p_status is null or coalesce(i.status, 'waiting') = p_status)
     order by i.n limit p_most;
end
$$;

-- Where the replays of an operation stand now: waiting, running, succeeded, dead_letter … Of the last 10,000.
create function {schema}.read_operation_results(p_id uuid) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return coalesce((select jsonb_object_agg(r.state, r.n) from (
        select s.state, count(*) as n
          from {schema}.job_state(array(select i.new_id from {schema}.operation_item i
                                         where i.operation_id = p_id and i.status = 'replayed' order by i.n desc limit 10000)) s
         group by 1) r), '{}');
end
$$;

select {schema}.secure_requests();
