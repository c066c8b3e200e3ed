-- postmill: safe
-- Who and what there is: tenants, queues, lanes with settings of their own, job definitions, limits.

create table {schema}.tenant (
    id uuid primary key,
    slug text collate "C" not null unique,
    name text not null,
    timezone text not null default 'UTC',
    status text collate "C" not null default 'active' check (status in ('active', 'throttled', 'suspended')),
    weight integer not null default 1 check (weight between 1 and 1000),
    created_at timestamptz not null default {schema}.now()
);

-- Users with a single tenant never name one; the zero uuid is the lane of "no lane", so it is not used here.
insert into {schema}.tenant (id, slug, name)
values ('00000000-0000-0000-0000-000000000001', 'default', 'Default');

create table {schema}.queue (
    name text collate "C" primary key check (length(name) between 1 and 200),
    priority integer not null default 100,
    lane text collate "C" not null default 'tenant',
    paused_at timestamptz,
    paused_by text,
    pause_reason text,
    resume_at timestamptz,
    -- Some limit may bind its jobs: they are claimed by claim_limited only.
    limited boolean not null default false,
    -- Who answers for it, and what is promised: the P95 of total (from due to finished), wait and run. NULL: best effort.
    owner text,
    contact text,
    color text,
    sla_seconds double precision check (sla_seconds > 0),
    wait_target_seconds double precision check (wait_target_seconds > 0),
    run_target_seconds double precision check (run_target_seconds > 0),
    escalation text,
    -- An address: what whoever is on call shall read.
    runbook text,
    -- The name under which its dead letters are shown and counted; nothing moves there. NULL: its own.
    dead_letters_as text collate "C" check (length(dead_letters_as) between 1 and 200),
    -- By how much waiting jobs rise for each so many seconds that they have been ready, and up to where (0058). NULL: not.
    boost_after_seconds double precision check (boost_after_seconds > 0),
    boost_step integer check (boost_step > 0),
    boost_to integer,
    created_at timestamptz not null default {schema}.now(),
    check (num_nulls(boost_after_seconds, boost_step, boost_to) in (0, 3))
);

create table {schema}.job_definition (
    key text collate "C" primary key check (length(key) between 1 and 200),
    id uuid not null unique default {schema}.new_id(),
    kind text collate "C" not null default 'function' check (kind in ('function', 'command', 'http')),
    description text not null default '',
    arg_schema jsonb not null default '{}',
    queue text collate "C" not null default 'default' references {schema}.queue (name),
    priority integer not null default 100,
    max_attempts integer not null default 3 check (max_attempts > 0),
    max_lost integer not null default 3 check (max_lost > 0),
    timeout_seconds double precision default 3600 check (timeout_seconds > 0),
    retry jsonb,
    on_exhausted text collate "C" not null default 'dead_letter' check (on_exhausted in ('dead_letter', 'fail')),
    idempotency text collate "C" check (idempotency in ('active', 'queued', 'window', 'ttl')),
    idempotency_ttl interval,
    -- The arguments that make a key's content: under a held key other content is another job (0007).
    idempotency_content text[] collate "C" check (cardinality(idempotency_content) > 0),
    keep text collate "C" not null default 'all' check (keep in ('all', 'failures')),
    lane text collate "C" not null default 'tenant',
    worker_limit integer check (worker_limit > 0),
    -- Its lane where limits are on its jobs, so that those at a cap never sit in front of others; see settle_limits.
    limit_lane text collate "C",
    aliases text[] collate "C" not null default '{}',
    is_active boolean not null default true,
    version integer not null default 1,
    edited text[] collate "C" not null default '{}',
    argv_template jsonb check (jsonb_typeof(argv_template) = 'array'),
    env_allow text[] collate "C" not null default '{}',
    -- Looked at before a job of this type runs; see 0037_budgets.sql.
    budget text collate "C",
    replay_class text collate "C" not null default 'safe' check (replay_class in ('safe', 'ask', 'never')),
    category text collate "C" check (category in ('notifications', 'audit', 'planning', 'exports', 'imports', 'maintenance')),
    strict_envelope boolean not null default false,
    secrets text collate "C" not null default 'redact' check (secrets in ('redact', 'refuse')),
    secret_keys text[] collate "C" not null default '{}',
    encrypted boolean not null default false,
    -- What whoever is told of a job that was given up shall do, and which arguments he is shown.
    action text not null default '',
    escalation_fields text[] collate "C" not null default '{}',
    -- Arguments that stand in each line of the log about a job of this type.
    log_fields text[] collate "C" not null default '{}',
    -- One look tells the front door whether a job of this type must be looked at more closely (check_guarded).
    guarded boolean not null default false,
    -- Of the code that registered it; empty: nobody did.
    fingerprint text collate "C" not null default '',
    created_at timestamptz not null default {schema}.now(),
    updated_at timestamptz not null default {schema}.now(),
    check ((kind = 'command') = (argv_template is not null))
);
create index job_definition_aliases on {schema}.job_definition using gin (aliases);

-- A cap on how many run at once and on how often they start, over the whole fleet. It is on the jobs of a queue, of a job
-- type or of a tenant, or on all; `per` says what is counted each for itself: 'tenant', 'payload.<field>'. name tells all that:
-- type:greet, queue:mail/tenant, all/payload.host; key is what it counts where `per` is empty.
create table {schema}.limit_rule (
    id bigint generated always as identity primary key,
    name text collate "C" not null unique check (length(name) between 1 and 500),
    key uuid not null,
    queue text collate "C" references {schema}.queue (name) on delete cascade,
    job_type text collate "C" references {schema}.job_definition (key) on delete cascade,
    tenant_id uuid references {schema}.tenant (id) on delete cascade,
    per text[] collate "C" not null default '{}',
    max_running integer check (max_running > 0),
    rate_count integer check (rate_count > 0),
    rate_seconds double precision check (rate_seconds > 0),
    rate_burst integer check (rate_burst > 0),
    -- What code or settings say; NULL: nothing. What an operator says wins until he clears it.
    declared jsonb,
    edited boolean not null default false,
    updated_at timestamptz not null default {schema}.now(),
    check (num_nonnulls(queue, job_type, tenant_id) <= 1),
    check (num_nonnulls(rate_count, rate_seconds, rate_burst) in (0, 3))
);
create index limit_rule_queue on {schema}.limit_rule (queue) where queue is not null;
create index limit_rule_job_type on {schema}.limit_rule (job_type) where job_type is not null;
create index limit_rule_tenant on {schema}.limit_rule (tenant_id) where tenant_id is not null;
create index limit_rule_all on {schema}.limit_rule (id) where queue is null and job_type is null and tenant_id is null;

-- Who is within a limit now: a row for each running job and key, taken with the claim and gone in the statement that ends
-- the attempt. Numbered in the order in which they are taken, under the key's lock.
create table {schema}.seat (
    key uuid not null,
    seat_no bigint not null,
    limit_id bigint not null,
    job_id uuid not null,
    primary key (key, seat_no)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
-- Seats are freed by number, which all of a ticket's have in common. By job the index would grow in a place of its own for each.
create index seat_number on {schema}.seat (seat_no);
-- A claim draws one number and numbers its tickets from there on.
create sequence {schema}.seat_seq increment 1048576;

-- Workers that lay down because all seats of a limit were taken. A row is valid until its own deadline, as sleepers' are.
create unlogged table {schema}.seat_waiter (
    limit_id bigint not null,
    holder uuid not null,
    valid_until timestamptz not null,
    primary key (limit_id, holder)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- Tokens taken, appended and never updated in place: an update per claim under a pinned horizon fell from
-- 3,134 to 1,195 a second after 30,000. tat is the theoretical arrival time of the generic cell rate algorithm.
create table {schema}.rate_take (
    key uuid not null,
    seq bigint not null,
    tat timestamptz not null,
    primary key (key, seq)
);
create index rate_take_tat on {schema}.rate_take (tat);
create sequence {schema}.rate_seq;

-- A lane whose settings differ from the default; most lanes have no row.
create table {schema}.lane (
    queue text collate "C" not null,
    lane uuid not null,
    weight integer not null default 1 check (weight between 1 and 1000),
    primary key (queue, lane)
);
