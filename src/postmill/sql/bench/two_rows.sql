-- What no enqueue can do without: a body and a ticket.
with body as (
    insert into {schema}.job (id, tenant_id, job_type, queue, payload, priority, max_attempts, created_at)
    values ({schema}.new_id(), $1::uuid, $2::text, $3::text, $4::text::jsonb, 100, 3, {schema}.now())
    returning id
)
insert into {schema}.ready (queue, lane, priority, ready_at, id, attempt, run, lost)
select $3::text, $1::uuid, 100, {schema}.now(), b.id, 1, 0, 0 from body b
returning id
