-- Run sheets, a row for each version. items: [{"id", "at", "what", "who"}].
create table if not exists planner.run_sheet (
    id uuid primary key default gen_random_uuid(),
    org_id uuid not null,
    project_id uuid not null,
    version integer not null default 1,
    foreign key (org_id, project_id) references planner.project (org_id, id),
    unique (org_id, id),
    unique (org_id, project_id)
);

create table if not exists planner.run_sheet_version (
    run_sheet_id uuid not null,
    version integer not null,
    org_id uuid not null,
    title text not null,
    items jsonb not null,
    foreign key (org_id, run_sheet_id) references planner.run_sheet (org_id, id),
    primary key (run_sheet_id, version)
);
