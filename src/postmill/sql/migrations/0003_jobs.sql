-- postmill: safe
-- The body of a job is written once. Where the job is now is told by the one table that holds its ticket.

-- Domains and not CHECK constraints of the table: PostgreSQL reads a table's constraints anew for each statement, which
-- was a fifth of what a single-row enqueue costs in the server (10 of 48 us); a domain's it keeps.
create domain {schema}.source as text collate "C" check (value in ('manual', 'event', 'schedule', 'system'));
create domain {schema}.actor_type as text collate "C" check (value in ('user', 'system', 'api_key'));

create table {schema}.job (
    id uuid not null,
    tenant_id uuid not null,
    project_id uuid,
    job_type text collate "C" not null,
    queue text collate "C" not null,
    payload jsonb not null,
    priority integer not null,
    max_attempts integer not null,
    timeout_seconds double precision,
    created_at timestamptz not null,
    scheduled_for timestamptz,
    expires_at timestamptz,
    source {schema}.source not null default 'manual',
    source_ref text,
    actor_type {schema}.actor_type not null default 'system',
    actor_id text,
    request_id text,
    correlation_id text,
    traceparent text,
    idempotency_key text collate "C",
    replayed_from uuid,
    workflow_id uuid,
    primary key (id)
) partition by range (id);
create index job_replayed_from on {schema}.job (replayed_from) where replayed_from is not null;
create index job_workflow on {schema}.job (workflow_id, id) where workflow_id is not null;

-- Bodies that outlive their partition: waiting tickets and history that stays (see the pruner).
create table {schema}.job_kept (like {schema}.job including all);

create table {schema}.ready (
    queue text collate "C" not null,
    lane uuid not null,
    priority integer not null,
    ready_at timestamptz not null,
    id uuid not null,
    attempt integer not null,
    run integer not null,
    lost integer not null,
    primary key (queue, lane, priority, ready_at, id)
);
create unique index ready_id on {schema}.ready (id);

create table {schema}.scheduled (
    queue text collate "C" not null,
    lane uuid not null,
    run_at timestamptz not null,
    id uuid not null,
    priority integer not null,
    attempt integer not null,
    run integer not null,
    lost integer not null,
    primary key (queue, lane, run_at, id)
);
create unique index scheduled_id on {schema}.scheduled (id);
create index scheduled_run_at on {schema}.scheduled (run_at);

create table {schema}.blocked (
    id uuid primary key,
    queue text collate "C" not null,
    lane uuid not null,
    priority integer not null,
    attempt integer not null,
    run integer not null,
    lost integer not null
);

-- No index on holder: with one, acknowledging under a pinned horizon fell from 31,600 to 7,900 a second.
create table {schema}.running (
    id uuid primary key,
    holder uuid not null,
    claim_no bigint not null,
    queue text collate "C" not null,
    lane uuid not null,
    priority integer not null,
    attempt integer not null,
    run integer not null,
    lost integer not null,
    claimed_at timestamptz not null,
    -- The number of the seats of limits that it holds; NULL: none.
    seat_no bigint
);

create table {schema}.dead_letter (
    id uuid primary key,
    tenant_id uuid not null,
    queue text collate "C" not null,
    lane uuid not null,
    priority integer not null,
    attempt integer not null,
    run integer not null,
    lost integer not null,
    reason text collate "C" not null,
    error_class text,
    error_code text,
    error_message text,
    error_status integer,
    error_group text collate "C",
    stack text,
    attempts integer not null,
    failed_at timestamptz not null,
    last_attempt_at timestamptz,
    job_type text collate "C"
);
create index dead_letter_failed_at on {schema}.dead_letter (failed_at, id);

create table {schema}.cancel_request (
    job_id uuid primary key,
    requested_at timestamptz not null,
    actor_type text collate "C" not null,
    actor_id text,
    reason text
);

-- History. One row per ended attempt; the last attempt of a finished job is the row in outcome itself.
create table {schema}.attempt (
    job_id uuid not null,
    tenant_id uuid not null,
    attempt integer not null,
    run integer not null,
    holder uuid not null,
    claim_no bigint not null,
    pid integer,
    started_at timestamptz not null,
    finished_at timestamptz not null,
    status text collate "C" not null
        check (status in ('succeeded', 'failed', 'timeout', 'canceled', 'lost', 'snoozed', 'interrupted')),
    exit_code integer,
    error_class text,
    error_code text,
    error_message text,
    error_status integer,
    error_group text collate "C",
    stack text,
    stdout_tail text,
    stderr_tail text
) partition by range (finished_at);
create index attempt_job on {schema}.attempt (job_id);

create table {schema}.outcome (
    job_id uuid not null,
    tenant_id uuid not null,
    status text collate "C" not null check (status in ('succeeded', 'failed', 'canceled', 'dead_letter')),
    finished_at timestamptz not null,
    attempt integer not null,
    run integer not null,
    lost integer not null,
    attempt_status text collate "C",
    holder uuid,
    claim_no bigint,
    pid integer,
    started_at timestamptz,
    exit_code integer,
    reason text,
    error_class text,
    error_code text,
    error_message text,
    error_status integer,
    error_group text collate "C",
    stack text,
    stdout_tail text,
    stderr_tail text,
    result jsonb,
    result_ref text,
    error_ref text
) partition by range (finished_at);
create index outcome_job on {schema}.outcome (job_id);

-- Counts that remain of successes whose definition keeps only failures.
create table {schema}.tally (
    at timestamptz not null,
    job_type text collate "C" not null,
    succeeded bigint not null
);
create index tally_at on {schema}.tally (at);

create table {schema}.idempotency_key (
    tenant_id uuid not null,
    project_id uuid not null,
    key text collate "C" not null,
    job_type text collate "C" not null,
    job_id uuid not null,
    mode text collate "C" not null,
    content text collate "C",
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    expires_at timestamptz,
    primary key (tenant_id, project_id, key)
);
create index idempotency_key_expires on {schema}.idempotency_key (expires_at) where expires_at is not null;

-- Hot tables turn over completely: vacuum by a fixed number of dead rows, at full speed.
do $do$
declare
    hot text;
begin
    foreach hot in array array['ready', 'scheduled', 'running', 'dead_letter', 'cancel_request', 'idempotency_key'] loop
        execute format('alter table {schema}.%I set (autovacuum_vacuum_scale_factor = 0,
            autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0,
            autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000,
            autovacuum_vacuum_insert_scale_factor = 1, fillfactor = 90)', hot);
    end loop;
end
$do$;

-- A ticket is never updated, only moved: taken out and put in anew. Claim, report and promotion find a ticket by its place in
-- the table (ctid), one index look-up a job less; an update beside them would leave that place to an older version, the
-- ticket would stay where it was and be in two tables. So nobody may, not even by hand.
create function {schema}.refuse_update() returns trigger
language plpgsql as $$
begin
    raise exception 'a ticket in %.% is never updated: delete it and insert the changed one, in one statement',
        tg_table_schema, tg_table_name using errcode = 'restrict_violation';
end
$$;

do $do$
declare
    tickets text;
begin
    foreach tickets in array array['ready', 'scheduled', 'blocked', 'running'] loop
        execute format('create trigger never_updated before update on {schema}.%I
            for each statement execute function {schema}.refuse_update()', tickets);
    end loop;
end
$do$;
