-- Workflows of ten steps in a row that have ended, 2,000 of 200 tenants; the first of tenant 0 has a thousand.
with flows as (
    insert into {schema}.workflow (id, tenant_id, kind, name, status, created_at, finished_at, sealed, fail_fast, actor_type,
           total, succeeded, last_no, looked_at)
    select md5('workflow ' || g)::uuid, md5('tenant ' || g % 200)::uuid, 'workflow', 'release', 'succeeded',
           {schema}.now() - g * interval '10 minutes', {schema}.now() - g * interval '10 minutes', true, true, 'system',
           s.n, s.n, s.n, {schema}.now()
      from generate_series(0, 1999) g cross join lateral (select case when g = 0 then 1000 else 10 end as n) s
    returning id, tenant_id, total
), steps as (
    insert into {schema}.workflow_step (workflow_id, no, tenant_id, name, job_type, state)
    select f.id, n, f.tenant_id, 'step-' || n, 'type-0', 'succeeded' from flows f cross join lateral generate_series(1, f.total) n
)
insert into {schema}.workflow_edge (workflow_id, parent, child, tenant_id, policy)
select f.id, n, n + 1, f.tenant_id, 'cancel' from flows f cross join lateral generate_series(1, f.total - 1) n
