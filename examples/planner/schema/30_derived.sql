-- What jobs make. A proposal is a suggestion: only the command `accept` makes an assignment of it.
create table if not exists planner.proposal (
    id uuid primary key default gen_random_uuid(),
    org_id uuid not null,
    project_id uuid not null,
    mission_id uuid not null,
    collaborator_id uuid not null,
    rank integer not null,
    score integer not null,
    reasons text[] not null,
    job_id uuid not null,
    artifact_id uuid not null,
    accepted_at timestamptz,
    accepted_by text,
    foreign key (org_id, project_id, mission_id) references planner.mission (org_id, project_id, id),
    foreign key (org_id, collaborator_id) references planner.collaborator (org_id, id),
    unique (job_id, mission_id, rank)
);

-- One row for each message: what makes a notification happen at most once. sent_at null: it was begun, and nobody knows more.
create table if not exists planner.delivery (
    org_id uuid not null,
    recipient text not null,
    template text not null,
    payload_hash text not null,
    schedule_bucket timestamptz not null,
    job_id uuid not null,
    first_seen_at timestamptz not null default postmill.now(),
    sent_at timestamptz,
    result_ref text,
    expires_at timestamptz not null default postmill.now() + interval '7 days',
    primary key (org_id, recipient, template, payload_hash, schedule_bucket)
);
create index if not exists delivery_expires on planner.delivery (org_id, expires_at);

-- Keys of the API's own (header Idempotency-Key): the answer that a repeated request gets.
create table if not exists planner.request_key (
    org_id uuid not null,
    actor_id text not null,
    key text not null,
    job_id uuid not null,
    first_seen_at timestamptz not null default postmill.now(),
    expires_at timestamptz not null default postmill.now() + interval '1 day',
    primary key (org_id, actor_id, key)
);
-- What the key was used for, so that no other request gets its answer.
alter table planner.request_key add column if not exists about text not null default '';
create index if not exists request_key_expires on planner.request_key (org_id, expires_at);

create table if not exists planner.search_entry (
    mission_id uuid primary key,
    org_id uuid not null,
    words tsvector not null,
    foreign key (org_id, mission_id) references planner.mission (org_id, id) on delete cascade
);
create index if not exists search_entry_words on planner.search_entry using gin (words);
