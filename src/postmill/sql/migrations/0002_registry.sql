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

-- A cap on how often (later also on how many at once). rate_count per rate_seconds, burst on top.
create table {schema}.limit_rule (
    id bigint generated always as identity primary key,
    job_type text collate "C" not null unique references {schema}.job_definition (key) on delete cascade,
    rate_count integer not null check (rate_count > 0),
    rate_seconds double precision not null check (rate_seconds > 0),
    rate_burst integer not null check (rate_burst > 0)
);

-- Tokens taken, appended and never updated in place: an update per claim under a pinned horizon fell from
-- 3,134 to 1,195 a second after 30,000. tat is the theoretical arrival time of the generic cell rate algorithm.
create table {schema}.rate_take (
    limit_id bigint not null references {schema}.limit_rule (id) on delete cascade,
    seq bigint not null,
    tat timestamptz not null,
    primary key (limit_id, seq)
);
create sequence {schema}.rate_seq;

-- A lane whose settings differ from the default; most lanes have no row.
create table {schema}.lane (
    queue text collate "C" not null,
    lane uuid not null,
    weight integer not null default 1 check (weight between 1 and 1000),
    primary key (queue, lane)
);
