-- Jobs $2 to $2 + $1 - 1 of $3 over 20 days: 90 of 100 succeeded, 1 failed, 1 was given up, 1 canceled, 5 wait, 2 have a later time.
-- About every second one is of the first tenant.
with made as materialized (
    select g, g % 100 as kind, md5('tenant ' || greatest(0, abs(hashint8(g)) % 400 - 200))::uuid as tenant,
           'type-' || g / 100 % 20 as job_type, 'queue-' || g / 100 % 10 as queue, {schema}.now() - ($3::bigint - g) * (interval '20 days' / $3::bigint) - interval '1 minute' as at,
           md5('worker ' || g % 20)::uuid as holder, left(md5('group ' || g / 100 % 500), 16) as cause
      from generate_series($2::bigint, $2::bigint + $1::bigint - 1) g
), named as materialized (
    select m.*, (left({schema}.id_at(m.at)::text, 14) || '7' || substr(md5(m.g::text), 1, 3) || '-8' || substr(md5(m.g::text), 4, 3)
            || '-' || substr(md5(m.g::text), 7, 12))::uuid as id
      from made m
), bodies as (
    insert into {schema}.job (id, tenant_id, job_type, queue, payload, priority, max_attempts, created_at)
    select id, tenant, job_type, queue, jsonb_build_object('invoice', g), 100, 3, at from named
), waiting as (
    insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
    select queue, tenant, 100, at, id, 1, 0, 0 from named where kind between 93 and 97
), later as (
    insert into {schema}.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
    select queue, tenant, {schema}.now() + interval '1 day' + g * interval '1 millisecond', id, 100, 1 + kind % 2, kind % 2, 0
      from named where kind >= 98
), ends as (
    insert into {schema}.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost, attempt_status, holder, claim_no,
        started_at, error_class, error_message, error_group, stack)
    select id, tenant, case kind when 90 then 'failed' when 92 then 'canceled' else 'succeeded' end, at + interval '2 seconds', 1, 1, 0,
           case kind when 90 then 'failed' when 92 then 'canceled' else 'succeeded' end, holder, g, at + interval '1 second',
           case kind when 90 then 'shop.TimeoutError' end, case kind when 90 then 'no answer' end, case kind when 90 then cause end,
           case kind when 90 then repeat('  File "shop.py", line 1, in charge' || chr(10), 20) end
      from named where kind <= 90 or kind = 92
), tries as (
    insert into {schema}.attempt (job_id, tenant_id, attempt, run, holder, claim_no, started_at, finished_at, status, error_class,
        error_message, error_group, stack)
    select id, tenant, a, a, holder, g, at + a * interval '1 second', at + a * interval '2 seconds', 'failed', 'shop.TimeoutError',
           'no answer', cause, repeat('  File "shop.py", line 1, in charge' || chr(10), 20)
      from named, generate_series(1, 3) a where kind = 91 or kind = 99 and a = 1
)
insert into {schema}.dead_letter (id, tenant_id, queue, lane, priority, attempt, run, lost, reason, error_class, error_message,
    error_group, stack, attempts, failed_at, last_attempt_at, job_type)
select id, tenant, queue, tenant, 100, 3, 3, 0, 'max_retries_exceeded', 'shop.TimeoutError', 'no answer', cause,
       repeat('  File "shop.py", line 1, in charge' || chr(10), 20), 3, at + interval '6 seconds', at + interval '6 seconds', job_type
  from named where kind = 91
