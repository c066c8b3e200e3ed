-- postmill: safe
-- Cells: several databases, each with this schema. A tenant lives in one of them; one of them holds the directory. What a
-- move of a tenant does to one side is here and in 0005 (gates); the mover carries the rows.

-- The directory: in which cell a tenant lives. Without a row it is the directory's own.
create table {schema}.cell_tenant (
    tenant_id uuid primary key,
    slug text collate "C" not null unique,
    cell text collate "C" not null,
    changed_at timestamptz not null
);
create index cell_tenant_cell on {schema}.cell_tenant (cell, slug);

-- Moves, kept in the directory. Each step can be done again: a mover that was killed is followed by another one.
-- carried: rows by table. closed_at to opened_at: how long nothing came in; parts: what of it took how many seconds. via: who
-- moves it, a command or the server that was asked.
create table {schema}.tenant_move (
    id uuid primary key,
    tenant_id uuid not null,
    slug text collate "C" not null,
    from_cell text collate "C" not null,
    to_cell text collate "C" not null,
    step text collate "C" not null default 'prepare'
        check (step in ('prepare', 'copy', 'drain', 'switch', 'open', 'clean', 'done')),
    status text collate "C" not null default 'running' check (status in ('running', 'aborting', 'aborted', 'done')),
    note text,
    carried jsonb not null default '{}',
    copied_until timestamptz,
    closed_at timestamptz,
    opened_at timestamptz,
    parts jsonb not null default '{}',
    reason text,
    actor_type text collate "C" not null,
    actor_id text,
    via text collate "C" not null default 'cli' check (via in ('api', 'console', 'cli')),
    created_at timestamptz not null,
    updated_at timestamptz not null,
    ended_at timestamptz,
    check (from_cell <> to_cell)
);
create unique index tenant_move_running on {schema}.tenant_move (tenant_id) where status in ('running', 'aborting');
create index tenant_move_tenant on {schema}.tenant_move (tenant_id, id);

-- The cell that holds a tenant, named by id or slug; NULL: the directory does not know it.
create function {schema}.find_place(p_tenant text) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return (select c.cell from {schema}.cell_tenant c
             where c.slug = p_tenant or c.tenant_id::text = lower(p_tenant) limit 1);
end
$$;

-- Does this cell know the key, login or login link with this hash, and of which tenant is it (NULL: the platform's)? For who
-- looks for the way: whether it holds is asked there.
create function {schema}.find_credential(p_hash bytea, out known boolean, out tenant uuid)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    select true, c.tenant_id into known, tenant from (
        select k.tenant_id from {schema}.api_key k where k.hash = p_hash
        union all select s.tenant_id from {schema}.console_session s where s.hash = p_hash
        union all select l.tenant_id from {schema}.login_link l where l.hash = p_hash) c limit 1;
    known := coalesce(known, false);
end
$$;

create function {schema}.has_webhook(p_id uuid) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return exists (select from {schema}.webhook w where w.id = p_id) and not {schema}.is_away(
        (select w.tenant_id from {schema}.webhook w where w.id = p_id));
end
$$;

-- Puts a gate up or changes it, if it stands at one of p_from ('here': there is none) or is there already; false where it
-- does not. p_stage 'here' takes it down. Waits for those that write for the tenant just now, as long as lock_timeout.
create function {schema}.set_gate(p_tenant uuid, p_stage text, p_cell text, p_move uuid, p_from text[]) returns boolean
language plpgsql volatile as $$
declare
    found_one {schema}.tenant_gate;
begin
    perform pg_advisory_xact_lock({schema}.gate_key(p_tenant));
    select * into found_one from {schema}.tenant_gate g where g.tenant_id = p_tenant for update;
    if coalesce(found_one.stage, 'here') = p_stage and coalesce(found_one.move_id = p_move, p_stage = 'here') then
        return true;
    end if;
    if not coalesce(found_one.stage, 'here') = any (p_from)
        or (found_one.move_id <> p_move and found_one.stage <> 'gone') then
        return false;
    end if;
    if p_stage = 'here' then
        delete from {schema}.tenant_gate g where g.tenant_id = p_tenant;
    else
        insert into {schema}.tenant_gate (tenant_id, stage, cell, move_id, changed_at)
        values (p_tenant, p_stage, p_cell, p_move, {schema}.now())
        on conflict (tenant_id) do update
           set stage = excluded.stage, cell = excluded.cell, move_id = excluded.move_id, changed_at = excluded.changed_at;
    end if;
    update {schema}.partition_horizon h set gated = g.any_gate
      from (select exists (select from {schema}.tenant_gate) as any_gate) g where h.gated <> g.any_gate;
    return true;
end
$$;

-- What is scheduled is due before 2500 or parked, and what is parked for 3500 and later was ready: no job can be scheduled
-- for later than ten years (fault_of).
--
-- The tenant's tickets in ready and scheduled are put where no claim and no promotion finds them. A tenant's own lane is
-- found by the index; other lanes, of types and keys, by their jobs. Returns how many were parked.
create function {schema}.park_tickets(p_tenant uuid) returns bigint
language plpgsql volatile as $$
declare
    parked bigint := 0;
    moved bigint;
begin
    with mine as materialized (
        select r.ctid as tid from {schema}.ready r
         where (r.lane = p_tenant and r.queue in (select q.name from {schema}.queue q))
            or (r.lane not in (select t.id from {schema}.tenant t)
                and (select j.tenant_id from {schema}.any_job j where j.id = r.id limit 1) = p_tenant)
         order by r.id for update
    ), gone as (
        delete from {schema}.ready r where r.ctid = any (array(select m.tid from mine m)) returning r.*
    )
    insert into {schema}.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
    select g.queue, g.lane, {schema}.parked_at(g.ready_at, true), g.id, g.priority, g.attempt, g.run, g.lost from gone g;
    get diagnostics parked = row_count;
    with mine as materialized (
        select s.ctid as tid from {schema}.scheduled s
         where s.run_at < timestamptz '2500-01-01 00:00+00'
           and (s.lane = p_tenant or (s.lane not in (select t.id from {schema}.tenant t)
                and (select j.tenant_id from {schema}.any_job j where j.id = s.id limit 1) = p_tenant))
         order by s.id for update
    ), gone as (
        delete from {schema}.scheduled s where s.ctid = any (array(select m.tid from mine m)) returning s.*
    )
    insert into {schema}.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
    select g.queue, g.lane, {schema}.parked_at(g.run_at, false), g.id, g.priority, g.attempt, g.run, g.lost from gone g;
    get diagnostics moved = row_count;
    return parked + moved;
end
$$;

-- And back: what was ready is ready again, in the order in which it was.
create function {schema}.unpark_tickets(p_tenant uuid) returns bigint
language plpgsql volatile as $$
declare
    back bigint;
    rung record;
begin
    with mine as materialized (
        select s.ctid as tid from {schema}.scheduled s
         where s.run_at > timestamptz '2500-01-01 00:00+00'
           and (select j.tenant_id from {schema}.any_job j where j.id = s.id limit 1) = p_tenant
         order by s.id for update
    ), gone as (
        delete from {schema}.scheduled s where s.ctid = any (array(select m.tid from mine m)) returning s.*
    ), later as (
        insert into {schema}.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
        select g.queue, g.lane, g.run_at - interval '1000 years', g.id, g.priority, g.attempt, g.run, g.lost
          from gone g where g.run_at < timestamptz '3500-01-01 00:00+00'
    ), due as (
        insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
        select g.queue, g.lane, g.priority, {schema}.now(), g.id, g.attempt, g.run, g.lost
          from gone g where g.run_at >= timestamptz '3500-01-01 00:00+00'
         order by g.run_at, g.id
    )
    select count(*) into back from gone;
    for rung in select q.name from {schema}.queue q loop
        perform {schema}.ring(rung.name);
    end loop;
    return back;
end
$$;

-- What still runs of a tenant.
create function {schema}.running_of(p_tenant uuid, p_most integer)
returns table (id uuid, job_type text, queue text, claimed_at timestamptz)
language plpgsql stable as $$
begin
    return query
    select r.id, j.job_type, r.queue, r.claimed_at from {schema}.running r join {schema}.any_job j on j.id = r.id
     where j.tenant_id = p_tenant order by r.claimed_at limit p_most;
end
$$;

-- Which of some transactions go on: of open_transactions, and prepared ones (x<xid>).
create function {schema}.lasting_transactions(p_open text[])
returns table (id text, pid integer, application text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    still text[] := {schema}.open_transactions(false);
begin
    return query
    select o.id, a.pid, a.application_name
      from unnest(p_open) as o(id)
      left join pg_locks l on l.virtualtransaction = o.id and l.locktype = 'virtualxid' and l.mode = 'ExclusiveLock'
      left join pg_stat_activity a on a.pid = l.pid
     where o.id = any (still)
        or exists (select from pg_prepared_xacts p where p.database = current_database() and 'x' || p.transaction::text = o.id);
end
$$;
