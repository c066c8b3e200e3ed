-- The planner's own audit trail: what people did. The lives of jobs are Postmill's stream (GET /api/v1/audit), under the same
-- org_id, request_id and correlation_id.
create schema if not exists planner_audit;

create table if not exists planner_audit.event (
    id uuid primary key default postmill.new_id(),
    org_id uuid not null,
    project_id uuid,
    actor_type text not null,
    actor_id text not null,
    request_id text not null,
    correlation_id text not null,
    action text not null,
    target text not null,
    details jsonb not null default '{}',
    happened_at timestamptz not null default postmill.now(),
    explanation text[],                                 -- enrichment: the only columns that a job may change
    explained_by uuid
);
create index if not exists event_by_time on planner_audit.event (org_id, happened_at, id);
create index if not exists event_by_target on planner_audit.event (org_id, target);
