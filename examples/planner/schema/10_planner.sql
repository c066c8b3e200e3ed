-- The planner's own tables, beside Postmill's schema in the same database: a write and its jobs are one transaction.
-- An organization is a tenant of Postmill's; a project has one id in both. Applying these files again changes nothing.

create schema if not exists planner;

create table if not exists planner.project (
    id uuid primary key default gen_random_uuid(),
    org_id uuid not null,
    name text not null,
    revision integer not null default 1,                -- of its planning: any change that a scan would see moves it
    ready_at timestamptz,                               -- provisioned: from then on it can be planned
    staffed integer, open integer, summed_revision integer,   -- derived by a job, of that revision; never authoritative
    created_at timestamptz not null default postmill.now(),
    unique (org_id, id)
);

-- Who may do what: in one project, or in all of the organization (project_id null). See policy.py.
create table if not exists planner.access (
    org_id uuid not null,
    project_id uuid,
    actor_type text not null check (actor_type in ('user', 'api_key')),
    actor_id text not null,
    role text not null check (role in ('owner', 'planner', 'viewer')),
    unique nulls not distinct (org_id, actor_type, actor_id, project_id)
);

create table if not exists planner.credential (
    token_sha256 bytea primary key,
    org_id uuid not null,
    actor_type text not null check (actor_type in ('user', 'api_key')),
    actor_id text not null,
    expires_at timestamptz
);

-- Addresses stand here and nowhere else: jobs name a collaborator and a channel.
create table if not exists planner.collaborator (
    id uuid primary key default gen_random_uuid(),
    org_id uuid not null,
    name text not null,
    email text, phone text, device text, account text,
    skills text[] not null default '{}',
    unique (org_id, id)
);

create table if not exists planner.mission (
    id uuid primary key default gen_random_uuid(),
    org_id uuid not null,
    project_id uuid not null,
    title text not null,
    skill text not null,
    starts_at timestamptz not null,
    ends_at timestamptz not null check (ends_at > starts_at),
    foreign key (org_id, project_id) references planner.project (org_id, id),
    unique (org_id, id),
    unique (org_id, project_id, id)
);
create index if not exists mission_by_time on planner.mission (org_id, project_id, starts_at, id);

create table if not exists planner.assignment (
    mission_id uuid primary key,
    org_id uuid not null,
    project_id uuid not null,
    collaborator_id uuid not null,
    assigned_by text not null,
    assigned_at timestamptz not null default postmill.now(),
    foreign key (org_id, project_id, mission_id) references planner.mission (org_id, project_id, id),
    foreign key (org_id, collaborator_id) references planner.collaborator (org_id, id)
);
create index if not exists assignment_by_collaborator on planner.assignment (org_id, collaborator_id);

create table if not exists planner.availability (
    org_id uuid not null,
    collaborator_id uuid not null,
    starts_at timestamptz not null,
    ends_at timestamptz not null check (ends_at > starts_at),
    sha256 text not null,                               -- of the file that it came from
    foreign key (org_id, collaborator_id) references planner.collaborator (org_id, id),
    unique (org_id, collaborator_id, starts_at, ends_at)
);
