-- postmill: safe
-- The workers and what keeps the fleet together.

-- One row per worker session, for people; kept as long as history speaks of it.
create table {schema}.worker (
    holder uuid primary key,
    worker_id text not null,
    hostname text not null,
    pid integer not null,
    version text not null default '',
    -- What its application calls the code that it runs: a release, a commit. NULL: it says nothing of that.
    build text check (length(build) between 1 and 100),
    queues text[] not null default '{}',
    slots jsonb not null default '{}',
    job_types text[] not null default '{}',
    started_at timestamptz not null,
    last_seen_at timestamptz not null,
    stopped_at timestamptz,
    draining boolean not null default false,
    running_count integer not null default 0,
    counted_batch bigint not null default 0,
    metadata jsonb not null default '{}',
    -- What an operator asks of it, which it reads at its next sign of life: to claim nothing more (drain), to claim again
    -- (resume), to end as soon as it has nothing to do (stop).
    asked text collate "C" check (asked in ('drain', 'resume', 'stop')),
    asked_at timestamptz,
    asked_by text,
    asked_reason text,
    draining_since timestamptz,
    -- Since when all its slots have been taken.
    full_since timestamptz,
    -- How far its own clock is ahead of the database's, by its last sign of life.
    skew_seconds double precision,
    -- What it says of itself: memory, what it ended, its last error.
    report jsonb not null default '{}'
);
create index worker_last_seen on {schema}.worker (last_seen_at);
create index worker_build on {schema}.worker (build, last_seen_at) where build is not null;

-- The right of a session to what it holds, ended by expiry.
create table {schema}.lease (
    holder uuid primary key,
    started_at timestamptz not null,
    expires_at timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);

-- Who sleeps. Of each queue only one worker, the watchman (watch), is rung by an enqueue; it wakes the reserves as
-- work demands. A row is valid until its own deadline (the worker's next poll), so neither dead rows under a pinned
-- horizon nor dead workers slow the probe of an enqueue.
create unlogged table {schema}.sleeper (
    queue text collate "C" not null,
    watch boolean not null,
    valid_until timestamptz not null,
    holder uuid not null,
    primary key (queue, watch, valid_until, holder)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- A round of upkeep is guarded by its row: any worker may run it, one at a time, with no leader to lose.
create table {schema}.upkeep (
    name text collate "C" primary key,
    last_run_at timestamptz,
    last_run_by text,
    note jsonb
) with (fillfactor = 50);
insert into {schema}.upkeep (name) values ('promote'), ('rescue'), ('prune'), ('sweep'), ('monitor');

create unlogged table {schema}.progress (
    job_id uuid primary key,
    holder uuid not null,
    claim_no bigint not null,
    done double precision not null,
    total double precision,
    message text,
    at timestamptz not null
);

-- Where COPY lands before enqueue_intake moves it within the same transaction.
create unlogged table {schema}.intake (
    batch uuid not null,
    n integer not null,
    job_type text collate "C" not null,
    payload jsonb not null,
    tenant_id uuid,
    priority integer,
    delay interval
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
create index intake_batch on {schema}.intake (batch, n);
