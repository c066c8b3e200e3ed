-- postmill: safe
-- Partitions by time: bodies by id (a UUIDv7 is time), history by the moment of the end. No default partition:
-- one would block later ones. Made ahead by the pruner, and by a report that needs one.

create table {schema}.partition_policy (
    only_row boolean primary key default true check (only_row),
    width interval not null default '7 days' check (width >= '1 hour'),
    ahead interval not null default '28 days',
    retention interval not null default '30 days' check (retention >= '1 hour')
);
insert into {schema}.partition_policy default values;

-- Between since and until every table has its partitions: the one row that enqueue and report look at. gated: some
-- tenant has a gate, for it leaves this database, has left it or comes to it. Where none ever moved, it is all that an
-- enqueue looks at.
create table {schema}.partition_horizon (
    only_row boolean primary key default true check (only_row),
    since timestamptz not null,
    until timestamptz not null,
    gated boolean not null default false
) with (fillfactor = 50);

-- What a move holds of a tenant here; `cell` is the other side's name. leaving: nothing yet, but whoever enqueues for it
-- looks here first. draining: new jobs wait (see park_tickets). closed: nothing comes in, for it is being carried over.
-- arriving: it is not here yet. gone: it lives in `cell`. Without a row a tenant is simply here.
create table {schema}.tenant_gate (
    tenant_id uuid primary key,
    stage text collate "C" not null check (stage in ('leaving', 'draining', 'closed', 'arriving', 'gone')),
    cell text collate "C" not null,
    move_id uuid not null,
    changed_at timestamptz not null
);

-- The lock that enqueues for a tenant share while it moves, and that the mover takes alone. It queues fairly, while a row
-- lock that many share would never be free; the row is locked as well, for a snapshot may be older than the change.
create function {schema}.gate_key(p_tenant uuid) returns bigint
language plpgsql immutable parallel safe as $$
begin
    return (
    select hashtextextended('{schema}.gate:' || p_tenant, 0));
end
$$;

-- Where a tenant stands, for who is about to write something of it: moving and moved refuse, parked lets a job in that
-- waits. NULL: it is here. What is answered holds until the caller's transaction ends.
create function {schema}.gate(p_tenant uuid, out answer text, out cell text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    found_one record;
begin
    if not exists (select from {schema}.tenant_gate g where g.tenant_id = p_tenant) then
        return;
    end if;
    perform pg_advisory_xact_lock_shared({schema}.gate_key(p_tenant));
    select g.stage, g.cell into found_one from {schema}.tenant_gate g where g.tenant_id = p_tenant for share;
    answer := case found_one.stage when 'draining' then 'parked' when 'closed' then 'moving' when 'arriving' then 'moving'
                                   when 'gone' then 'moved' end;
    cell := case when answer <> 'parked' then found_one.cell end;
end
$$;

-- Is the tenant on its way, or gone? A look without a lock, for rounds that would only do work in vain.
create function {schema}.is_away(p_tenant uuid) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return exists (select from {schema}.tenant_gate g where g.tenant_id = p_tenant and g.stage in ('closed', 'arriving', 'gone'));
end
$$;

-- The error for who cannot be answered by a status.
create function {schema}.refuse_away(p_tenant uuid, p_answer text, p_cell text) returns void
language plpgsql stable as $$
begin
    if p_answer = 'moved' then
        raise exception 'postmill: tenant % lives in cell %', p_tenant, p_cell using errcode = 'PM061',
            hint = 'Ask there: the directory of cells has its address.';
    end if;
    raise exception 'postmill: tenant % is being moved (%)', p_tenant, p_cell using errcode = 'PM060',
        hint = 'Try again in a second.';
end
$$;

-- Whatever a person does passes here (audit): of a tenant that is carried over it would be lost.
create function {schema}.refuse_acts_on(p_tenant uuid) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    answer text;
    cell text;
begin
    if (select h.gated from {schema}.partition_horizon h)
        and current_setting('postmill.via', true) in ('api', 'console', 'cli')
    then
        select g.answer, g.cell into answer, cell from {schema}.gate(p_tenant) g where g.answer <> 'parked';
        if answer is not null then
            perform {schema}.refuse_away(p_tenant, answer, cell);
        end if;
    end if;
end
$$;

-- Raises where the tenant is on its way or gone. A look without a lock: what is written asks gate() again.
create function {schema}.require_home(p_tenant uuid) returns void
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    found_one record;
begin
    if (select h.gated from {schema}.partition_horizon h) then
        select g.stage, g.cell into found_one from {schema}.tenant_gate g where g.tenant_id = p_tenant;
        if found_one.stage in ('closed', 'arriving', 'gone') then
            perform {schema}.refuse_away(p_tenant, case found_one.stage when 'gone' then 'moved' else 'moving' end, found_one.cell);
        end if;
    end if;
end
$$;

-- A ticket that must not be claimed while its tenant drains waits among the scheduled ones, a millennium later; one that
-- was ready, two. Ends where no clock will be, and what it was can be told from it.
create function {schema}.parked_at(p_at timestamptz, p_ready boolean) returns timestamptz
language plpgsql immutable parallel safe as $$
begin
    return (
    select p_at + case when p_ready then interval '2000 years' else interval '1000 years' end);
end
$$;

create table {schema}.partition (
    parent text collate "C" not null,
    name text collate "C" not null unique,
    since timestamptz not null,
    until timestamptz not null,
    primary key (parent, since)
);

-- Made standalone and then attached: an attach locks the parent against other attaches only, never against
-- inserts, while CREATE … PARTITION OF would wait for every writer. Edges are written as UTC: in the session's own
-- DateStyle and zone a moment can read as another (IST is India's time, and Israel's).
create function {schema}.make_partition(p_parent text, p_since timestamptz, p_until timestamptz) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    child text := p_parent || '_' || to_char(p_since at time zone 'UTC', 'YYYYMMDD_HH24');
    low text := quote_literal(case p_parent when 'job' then {schema}.id_at(p_since)::text
                              else to_char(p_since at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00' end);
    high text := quote_literal(case p_parent when 'job' then {schema}.id_at(p_until)::text
                               else to_char(p_until at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00' end);
begin
    if exists (select from {schema}.partition x where x.parent = p_parent and x.since < p_until and x.until > p_since) then
        return;
    end if;
    execute format('create table {schema}.%I (like {schema}.%I including all)', child, p_parent);
    execute format('alter table {schema}.%I attach partition {schema}.%I for values from (%s) to (%s)',
                   p_parent, child, low, high);
    insert into {schema}.partition (parent, name, since, until) values (p_parent, child, p_since, p_until);
end
$$;

-- Makes every partition that is missing around p_moment and for the policy's time ahead. At most 16 live
-- partitions: where retention exceeds eleven widths, new ones are made wider.
create function {schema}.ensure_partitions(p_moment timestamptz) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    policy {schema}.partition_policy;
    horizon {schema}.partition_horizon;
    step interval;
    low timestamptz;
    high timestamptz;
    made integer := 0;
    parent text;
begin
    perform pg_advisory_xact_lock(hashtext('{schema}.ensure_partitions'));
    select * into strict policy from {schema}.partition_policy;
    -- In seconds: a day of an interval has 23 or 25 hours where the session's clock is set.
    step := extract(epoch from greatest(policy.width, date_trunc('hour', policy.retention / 11))) * interval '1 second';
    select * into horizon from {schema}.partition_horizon;
    if not found then
        low := date_bin(step, p_moment, timestamptz '2024-01-01 00:00+00') - step;
        insert into {schema}.partition_horizon (since, until) values (low, low) returning * into horizon;
    end if;
    while horizon.until < p_moment + policy.ahead loop
        -- A database left alone for months skips the empty stretch, but not the width before this one: a clock may
        -- step back. What is skipped is outside the horizon, so that who needs it after all makes it.
        low := date_bin(step, p_moment, horizon.until) - step;
        if horizon.until < low then
            horizon.since := low;
            horizon.until := low;
        end if;
        high := horizon.until + step;
        foreach parent in array array['job', 'attempt', 'outcome'] loop
            perform {schema}.make_partition(parent, horizon.until, high);
        end loop;
        horizon.until := high;
        made := made + 1;
    end loop;
    while horizon.since > p_moment loop
        low := horizon.since - step;
        foreach parent in array array['job', 'attempt', 'outcome'] loop
            perform {schema}.make_partition(parent, low, horizon.since);
        end loop;
        horizon.since := low;
        made := made + 1;
    end loop;
    if made > 0 then
        update {schema}.partition_horizon set since = horizon.since, until = horizon.until;
    end if;
    return made;
end
$$;

select {schema}.ensure_partitions({schema}.now());
