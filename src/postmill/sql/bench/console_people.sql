-- What a platform has beside its jobs: 200 tenants, 10 queues, 20 workers, 200 triggers with a day of fires, incidents.
with tenants as (
    insert into {schema}.tenant (id, slug, name)
    select md5('tenant ' || g)::uuid, 'tenant-' || g, 'Tenant ' || g from generate_series(0, 199) g
    returning id
), queues as (
    insert into {schema}.queue (name, sla_seconds, owner)
    select 'queue-' || g, 60, 'owner ' || g from generate_series(0, 9) g
    on conflict do nothing
), workers as (
    insert into {schema}.worker (holder, worker_id, hostname, pid, version, queues, slots, job_types, started_at, last_seen_at)
    select md5('worker ' || g)::uuid, 'host-' || g || ':1', 'host-' || g, 1, '1', array(select 'queue-' || q from generate_series(0, 9) q),
           jsonb_build_object('queue-0', 20), '{}', {schema}.now() - interval '20 days', {schema}.now()
      from generate_series(0, 19) g
), leases as (
    insert into {schema}.lease (holder, started_at, expires_at)
    select md5('worker ' || g)::uuid, {schema}.now() - interval '20 days', {schema}.now() + interval '1 day'
      from generate_series(0, 19) g
), definitions as (
    insert into {schema}.job_definition (key, queue)
    select 'type-' || g, 'queue-' || g % 10 from generate_series(0, 19) g
    returning id, key
), triggers as (
    insert into {schema}.trigger (id, tenant_id, label, trigger_type, cron_expr, timezone, definition_id, next_run_at)
    select md5('trigger ' || g)::uuid, md5('tenant ' || g % 20)::uuid, 'trigger ' || g, 'schedule', '0 * * * *', 'UTC', d.id,
           {schema}.now() + interval '1 hour'
      from generate_series(0, 199) g join definitions d on d.key = 'type-' || g % 20
), ticks as (
    insert into {schema}.tick (trigger_id, due, tenant_id, outcome, detail, fired_at)
    select md5('trigger ' || g)::uuid, {schema}.now() - h * interval '1 hour', md5('tenant ' || g % 20)::uuid,
           case when h % 12 = 0 then 'skipped' else 'enqueued' end, null, {schema}.now() - h * interval '1 hour'
      from generate_series(0, 199) g, generate_series(1, 24) h
), incidents as (
    insert into {schema}.incident (id, kind, key, severity, title, queue, opened_at, last_at, cycle_at, resolved_at)
    select md5('incident ' || g)::uuid, 'sla_breach', 'key ' || g, 'warning', 'queue is late', 'queue-' || g % 10, m.at, m.at, m.at,
           case when g >= 5 then m.at end
      from generate_series(0, 499) g, (select {schema}.now() - interval '30 minutes' as at) m
), groups as (
    insert into {schema}.error_group (id, job_type, error_class, message, frame, first_seen_at, last_seen_at, count)
    select left(md5('group ' || g), 16), 'type-' || g % 20, 'shop.TimeoutError', 'no answer from service ' || g, 'shop.py:charge',
           {schema}.now() - interval '20 days', {schema}.now(), 1000 from generate_series(0, 499) g
), hit as (
    insert into {schema}.error_group_tenant (id, tenant_id, first_seen_at, last_seen_at, count)
    select left(md5('group ' || g), 16), md5('tenant ' || t)::uuid, {schema}.now() - interval '20 days', {schema}.now(), 10
      from generate_series(0, 499) g, generate_series(0, 39) t
), minutes as (
    insert into {schema}.error_group_minute (id, tenant_id, minute, n)
    select left(md5('group ' || g), 16), md5('tenant ' || m % 40)::uuid, {schema}.minute_of({schema}.now() - m * interval '1 minute'), 1
      from generate_series(0, 499) g, generate_series(0, 179) m where m % (1 + g % 10) = 0
), operation as (
    insert into {schema}.operation (id, tenant_id, kind, stage, status, filter, total, actor_type, created_at)
    select md5('operation')::uuid, md5('tenant 0')::uuid, 'replay', 'rest', 'paused', '{"states": ["dead_letter"]}', 100, 'user',
           {schema}.now()
), budget as (
    insert into {schema}.budget (id, tenant_id, name, limit_amount)
    select md5('budget')::uuid, md5('tenant 0')::uuid, 'llm', 50
)
insert into {schema}.audit_log (id, at, tenant_id, actor_type, actor_id, via, action, target_kind, target, result, db_role)
select {schema}.new_id(), {schema}.now() - g * interval '1 minute', md5('tenant ' || g % 200)::uuid, 'user', 'ann', 'console',
       'jobs.cancel', 'job', 'job ' || g, 'done', 'x'
  from generate_series(1, 20000) g
