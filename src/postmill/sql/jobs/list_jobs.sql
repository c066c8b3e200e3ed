-- One page of jobs, newest first, below the id $5. $1 state or NULL, $2 job type, $3 queue, $4 tenant, $6 page size.
-- A state is read from the table that holds its tickets, and $7 bounds how many of them one page looks at: with a rare
-- job type among a million others the page comes back short, and quick, with the id to go on from. The look-ups
-- per row are fenced (offset 0), so that no statistics can turn them into joins over whole tables. A job's queue is its
-- ticket's; the body's once there is none.
with seen as materialized (
    (select b.id, null as queue, b.tenant_id, b.job_type
       from {schema}.any_job b
      where $1::text is null and b.id < $5::uuid order by b.id desc limit $7::integer)
    union all
    (select t.id, t.queue, null, null from {schema}.ready t
      where $1::text = 'queued' and t.id < $5::uuid and ($3::text is null or t.queue = $3::text) order by t.id desc limit $7::integer)
    union all
    (select t.id, t.queue, null, null from {schema}.scheduled t
      where $1::text = 'scheduled' and t.id < $5::uuid and ($3::text is null or t.queue = $3::text) order by t.id desc limit $7::integer)
    union all
    (select t.id, t.queue, null, null from {schema}.blocked t
      where $1::text = 'blocked' and t.id < $5::uuid and ($3::text is null or t.queue = $3::text) order by t.id desc limit $7::integer)
    union all
    (select t.id, t.queue, null, null from {schema}.running t
      where $1::text = 'running' and t.id < $5::uuid and ($3::text is null or t.queue = $3::text) order by t.id desc limit $7::integer)
    union all
    (select t.id, t.queue, t.tenant_id, null from {schema}.dead_letter t
      where $1::text = 'dead_letter' and t.id < $5::uuid order by t.id desc limit $7::integer)
    union all
    (select o.job_id, null, o.tenant_id, null from {schema}.outcome o
      where $1::text = 'succeeded' and o.status = 'succeeded' and o.job_id < $5::uuid
      order by o.job_id desc limit $7::integer)
    union all
    (select o.job_id, null, o.tenant_id, null from {schema}.outcome o
      where $1::text in ('failed', 'canceled', 'dead_letter') and o.status <> 'succeeded' and o.status = $1::text
        and o.job_id < $5::uuid order by o.job_id desc limit $7::integer)
), looked_at as materialized (
    select s.* from seen s order by s.id desc limit $7::integer
), page as materialized (
    select b.*
      from looked_at s
     cross join lateral (
        select j.id, j.tenant_id, j.job_type, j.queue, j.priority, j.max_attempts, j.created_at, j.scheduled_for,
               j.idempotency_key
          from {schema}.any_job j
         where j.id = s.id and j.job_type = coalesce($2::text, j.job_type) offset 0) b
     where ($4::uuid is null or b.tenant_id = $4::uuid)
       and ($3::text is null or $3::text = coalesce(s.queue, case when $1::text is null then coalesce(
               (select t.queue from {schema}.ready t where t.id = s.id),
               (select t.queue from {schema}.scheduled t where t.id = s.id),
               (select t.queue from {schema}.blocked t where t.id = s.id),
               (select t.queue from {schema}.running t where t.id = s.id),
               (select t.queue from {schema}.dead_letter t where t.id = s.id)) end, b.queue))
       and ($2::text is null or coalesce(s.job_type, $2::text) = $2::text)
     order by b.id desc limit $6::integer
)
select p.id, p.tenant_id, p.job_type, coalesce(w.queue, s.queue, b.queue, r.queue, d.queue, p.queue),
       case when r.id is not null then 'running' when w.id is not null then 'queued'
            when s.id is not null then 'scheduled' when b.id is not null then 'blocked'
            when d.id is not null then 'dead_letter' else o.status end,
       coalesce(w.priority, s.priority, b.priority, r.priority, p.priority),
       coalesce(w.attempt, s.attempt, b.attempt, r.attempt, d.attempts, o.attempt), p.max_attempts, p.created_at,
       coalesce(s.run_at, p.scheduled_for), coalesce(r.claimed_at, o.started_at, d.last_attempt_at),
       coalesce(a.finished_at, o.finished_at, d.failed_at), p.idempotency_key, coalesce(d.reason, o.reason),
       coalesce(d.error_class, o.error_class), left(coalesce(d.error_message, o.error_message), 500),
       case when (select count(*) from page) < $6::integer and (select count(*) from looked_at) = $7::integer
            then (select min(l.id::text)::uuid from looked_at l) end
  from (select true) as always
  left join page p on true
  left join lateral (select t.* from {schema}.ready t where t.id = p.id offset 0) w on true
  left join lateral (select t.* from {schema}.scheduled t where t.id = p.id offset 0) s on true
  left join lateral (select t.* from {schema}.blocked t where t.id = p.id offset 0) b on true
  left join lateral (select t.* from {schema}.running t where t.id = p.id offset 0) r on true
  left join lateral (select t.* from {schema}.dead_letter t where t.id = p.id offset 0) d on true
  left join lateral (select t.* from {schema}.outcome t where t.job_id = p.id offset 0) o on true
  left join lateral (select max(t.finished_at) as finished_at from {schema}.attempt t
                      where t.job_id = p.id and o.status = 'dead_letter' offset 0) a on true
 order by p.id desc
