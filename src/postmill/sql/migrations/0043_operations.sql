-- postmill: safe
-- Bulk acts on dead letters and other jobs that outlive whoever began them: exactly those selected at the start, each once, by any
-- worker's round of upkeep, at a rate, after a canary, to be paused, resumed and aborted.

-- tenant_id: whose letters; NULL: of several. total, done (replayed or discarded), skipped, failed: counts of its items.
-- matching: the jobs meant, as read_matching takes it, with ids below cut_off; NULL: letters of the filter, all selected
-- at the start. select_below: how far down it has selected (stage select). held: somebody is asked once they are counted.
-- fair: tenants take turns. same_version: only jobs whose definition has not changed since they were made. original_version: each
-- runs under the version that it was made under. priority: the new
-- one, or that of replays. stop_ratio: share of failures that pauses it. start_at: nothing is done before; until then an
-- abort undoes all of it. approve_above: with more jobs than that somebody else has to approve (status proposed).
-- tags: of tag, those that a minus stands before are taken away. taken_at: up to which moment the rate's allowance is used up. twins_at: when later jobs that do the same were looked for.
create table {schema}.operation (
    id uuid primary key,
    tenant_id uuid,
    kind text collate "C" not null check (kind in
        ('replay', 'retry', 'cancel', 'discard', 'priority', 'move', 'run_at', 'tag')),
    status text collate "C" not null default 'running' check (status in
        ('proposed', 'running', 'paused', 'finished', 'aborted')),
    stage text collate "C" not null check (stage in ('select', 'canary', 'rest')),
    filter jsonb not null,
    matching jsonb,
    cut_off uuid,
    select_below uuid,
    held boolean not null default false,
    rate double precision check (rate > 0),
    canary integer not null default 0 check (canary >= 0),
    again boolean not null default false,
    confirm boolean not null default false,
    despite_success boolean not null default false,
    version integer,
    fair boolean not null default false,
    same_version boolean not null default false,
    original_version boolean not null default false,
    priority integer,
    queue text collate "C",
    run_at timestamptz,
    tags jsonb,
    stop_ratio double precision check (stop_ratio between 0 and 1),
    start_at timestamptz,
    approve_above integer,
    approved_by text,
    approved_at timestamptz,
    reason text,
    total integer not null,
    done integer not null default 0,
    skipped integer not null default 0,
    failed integer not null default 0,
    twins_at timestamptz,
    taken_at timestamptz,
    checked_at timestamptz,
    watched_from timestamptz,
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

-- turn: the order in which they are tried. status NULL: not tried yet. new_id: the replay, or the job that the status names. print, key_print: hashes of its type and
-- payload, and of its key. twins: later jobs that have one of them.
create table {schema}.operation_item (
    operation_id uuid not null,
    n integer not null,
    turn integer not null default 0,
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
create index operation_item_waiting on {schema}.operation_item (operation_id, turn, n) where status is null;
create index operation_item_print on {schema}.operation_item (operation_id, tenant_id, print) where status is null;
create index operation_item_key on {schema}.operation_item (operation_id, tenant_id, key_print) where status is null and key_print is not null;
create index operation_item_replay on {schema}.operation_item (operation_id, at) where status = 'replayed';

-- How many items of each tenant a fair operation has: where its next one's turn is.
create table {schema}.operation_share (
    operation_id uuid not null,
    tenant_id uuid not null,
    n integer not null,
    primary key (operation_id, tenant_id)
);

-- Begins an operation: on the letters of a filter, selected here, the oldest first; or on the jobs that p_matching finds
-- below p_cut_off, of which some thousand are selected here and the rest by upkeep. started | proposed (somebody else has to
-- approve it) | none (nothing matches).
create function {schema}.door_start_operation(p_kind text, p_filter jsonb, p_options jsonb, p_reason text default null,
    p_actor_type text default null, p_actor_id text default null, p_matching jsonb default null, p_cut_off uuid default null,
    out id uuid, out status text, out total integer)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    own uuid := coalesce((p_filter ->> 'tenant_id')::uuid, {schema}.scope_tenant());
    moment timestamptz := {schema}.now();
    fairly boolean := coalesce((p_options ->> 'fair')::boolean, false);
    op {schema}.operation;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    if p_kind = 'move' and not {schema}.sees_all() then
        status := 'none';
        return;
    end if;
    if own is null then
        select max(t.value #>> '{values,0}')::uuid into own from jsonb_array_elements(p_matching -> 'terms') t
         where t.value ->> 'field' = 'tenant' and not (t.value ->> 'not')::boolean
        having count(*) = 1 and max(jsonb_array_length(t.value -> 'values')) = 1;
    end if;
    id := {schema}.new_id();
    insert into {schema}.operation as o (id, tenant_id, kind, stage, filter, matching, cut_off, held, rate, canary, again, confirm,
           despite_success, version, fair, same_version, original_version, priority, queue, run_at, tags, stop_ratio, start_at, approve_above, reason,
           total, actor_type, actor_id, actor_role, request_id, created_at)
    values (id, own, p_kind, 'select', p_filter, {schema}.at_moments(p_matching, moment),
            case when p_matching is not null then least(coalesce(p_cut_off, id), id) end,
            coalesce((p_options ->> 'held')::boolean, false), (p_options ->> 'rate')::double precision,
            coalesce((p_options ->> 'canary')::integer, 0), coalesce((p_options ->> 'again')::boolean, false),
            coalesce((p_options ->> 'confirm')::boolean, false), coalesce((p_options ->> 'despite_success')::boolean, false),
            (p_options ->> 'version')::integer, fairly, coalesce((p_options ->> 'same_version')::boolean, false),
            coalesce((p_options ->> 'original_version')::boolean, false),
            (p_options ->> 'priority')::integer, p_options ->> 'queue', (p_options ->> 'run_at')::timestamptz, p_options -> 'tags',
            (p_options ->> 'stop_ratio')::double precision,
            greatest((p_options ->> 'start_at')::timestamptz, moment + (p_options ->> 'undo_seconds')::double precision * interval '1 s'),
            (p_options ->> 'approve_above')::integer, p_reason, 0, {schema}.acting_type(), {schema}.acting_id(),
            nullif(current_setting('postmill.actor_role', true), ''), nullif(current_setting('postmill.request_id', true), ''), moment)
    returning o.* into op;
    if p_matching is null then
        insert into {schema}.operation_item (operation_id, n, turn, job_id, tenant_id)
        select op.id, x.n, case when fairly then x.share else x.n end, x.id, x.tenant_id
          from (select l.id, l.tenant_id, row_number() over (order by l.failed_at, l.id) as n,
                       row_number() over (partition by l.tenant_id order by l.failed_at, l.id) as share
                  from {schema}.read_letters_matching(p_filter) l) x;
        get diagnostics total = row_count;
        update {schema}.operation o set total = door_start_operation.total where o.id = op.id;
        perform {schema}.settle_selection(op.id);
    else
        perform {schema}.select_items(op.id, 5000);
    end if;
    select o.* into op from {schema}.operation o where o.id = op.id;
    total := op.total;
    if total = 0 and op.stage <> 'select' then
        delete from {schema}.operation o where o.id = op.id;
        id := null;
        status := 'none';
        return;
    end if;
    perform {schema}.audit('operations.start', 'operation', id::text, own, null,
        jsonb_build_object('kind', p_kind, 'filter', p_filter, 'options', p_options, 'total', total), p_reason);
    perform {schema}.tell('!operations');
    status := case op.status when 'proposed' then 'proposed' else 'started' end;
end
$$;

-- paused | resumed | approved | aborted | unchanged (it is so already) | ended | proposed (it has to be approved first) |
-- same_person (who began it cannot approve it) | unknown. A resumed canary that failed goes on with the rest: somebody has
-- looked.
create function {schema}.door_change_operation(p_id uuid, p_verb text, p_reason text default null, p_actor_type text default null,
    p_actor_id text default null, out status text, out kind text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    op {schema}.operation;
    moment timestamptz := {schema}.now();
    wanted constant text := case p_verb when 'pause' then 'paused' when 'abort' then 'aborted' else 'running' end;
begin
    perform {schema}.act_as(p_actor_type, p_actor_id);
    select o.* into op from {schema}.operation o where o.id = p_id for update;
    if op.id is null or not {schema}.in_scope(op.tenant_id) then
        status := 'unknown';
        return;
    end if;
    kind := op.kind;
    status := case when op.status in ('finished', 'aborted') then case op.status when wanted then 'unchanged' else 'ended' end
                   when p_verb = 'approve' and op.status <> 'proposed' or op.status = wanted then 'unchanged'
                   when op.status = 'proposed' and p_verb in ('pause', 'resume') then 'proposed'
                   when p_verb = 'approve' and {schema}.acting_type() = op.actor_type and {schema}.acting_id() = op.actor_id
                   then 'same_person' end;
    if status is not null then
        return;
    end if;
    status := case p_verb when 'pause' then 'paused' when 'resume' then 'resumed' when 'approve' then 'approved' else 'aborted' end;
    update {schema}.operation o
       set status = wanted, taken_at = null,
           stage = case when p_verb = 'resume' and o.pause_reason like 'canary:%' then 'rest' else o.stage end,
           watched_from = case when p_verb = 'resume' then moment else o.watched_from end,
           approved_by = case when p_verb = 'approve' then {schema}.acting_id() else o.approved_by end,
           approved_at = case when p_verb = 'approve' then moment else o.approved_at end,
           paused_at = case p_verb when 'pause' then moment when 'resume' then null else o.paused_at end,
           paused_by = case p_verb when 'pause' then {schema}.acting_id() when 'resume' then null else o.paused_by end,
           pause_reason = case p_verb when 'pause' then p_reason when 'resume' then null else o.pause_reason end,
           ended_at = case when p_verb = 'abort' then moment end
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
    paused_at timestamptz, paused_by text, pause_reason text, ended_at timestamptz, fair boolean, same_version boolean,
    priority integer, queue text, run_at timestamptz, stop_ratio double precision, start_at timestamptz, approve_above integer,
    approved_by text, approved_at timestamptz, cut_off uuid, tags jsonb, original_version boolean)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select o.id, o.tenant_id, o.kind, o.status, o.stage, o.filter, o.rate, o.canary, o.again, o.confirm, o.despite_success,
           o.version, o.reason, o.total, o.done, o.skipped, o.failed, o.actor_type, o.actor_id, o.created_at, o.started_at,
           o.paused_at, o.paused_by, o.pause_reason, o.ended_at, o.fair, o.same_version, o.priority, o.queue, o.run_at,
           o.stop_ratio, o.start_at, o.approve_above, o.approved_by, o.approved_at, o.cut_off, o.tags, o.original_version
      from {schema}.operation o
     where (p_id is null or o.id = p_id) and o.id < p_before and (not p_open or o.status in ('proposed', 'running', 'paused'))
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
                                         where i.operation_id = p_id and i.status = 'replayed' order by i.at desc limit 10000)) s
         group by 1) r), '{}');
end
$$;
