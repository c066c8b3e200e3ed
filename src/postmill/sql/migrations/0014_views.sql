-- postmill: safe
-- The read side, in the column names of seed 3, for SQL users and BI. Jobs are found by id; each look-up is a probe.

create view {schema}.any_job as
    select * from {schema}.job union all select * from {schema}.job_kept;

-- What did not succeed is looked for among much that did; a success pays nothing for this index.
create index outcome_unsuccessful on {schema}.outcome (status, job_id) where status <> 'succeeded';

-- queue is the ticket's while there is one. A dead letter that was replayed finished when it failed, not when the
-- replay closed it. The error's three facts are of one attempt.
create view {schema}.jobs as
select j.id, j.tenant_id, d.id as definition_id, j.job_type,
       coalesce(w.queue, s.queue, b.queue, r.queue, x.queue, j.queue) as queue, j.source::text, j.source_ref,
       case when w.id is not null or s.id is not null or b.id is not null then 'queued'
            when r.id is not null then 'running'
            when x.id is not null then 'dead_letter'
            else o.status end as status,
       coalesce(w.priority, s.priority, b.priority, r.priority, x.priority, j.priority) as priority,
       j.payload, j.idempotency_key as dedupe_key, j.correlation_id,
       coalesce(s.run_at, j.scheduled_for, j.created_at) as scheduled_for, j.created_at as queued_at,
       coalesce(r.claimed_at, o.started_at, x.last_attempt_at) as started_at,
       coalesce(case when o.status = 'dead_letter' then
                    (select max(a.finished_at) from {schema}.attempt a where a.job_id = j.id) end,
                o.finished_at, x.failed_at) as finished_at,
       coalesce(w.attempt - 1, s.attempt - 1, b.attempt - 1, r.attempt, x.attempts, o.attempt, 0) as attempt_count,
       j.max_attempts, l.expires_at as lease_expires_at, k.worker_id as claimed_by_worker,
       coalesce(x.error_message, o.error_message,
                (select a.error_message from {schema}.attempt a where a.job_id = j.id order by a.run desc limit 1)) as last_error,
       coalesce(x.error_class, o.error_class,
                (select a.error_class from {schema}.attempt a where a.job_id = j.id order by a.run desc limit 1)) as last_error_class,
       case when coalesce(x.error_class, o.error_class) is not null then coalesce(x.error_code, o.error_code)
            else (select a.error_code from {schema}.attempt a where a.job_id = j.id order by a.run desc limit 1)
       end as last_error_code,
       j.actor_id as created_by, j.project_id, j.replayed_from
  from {schema}.any_job j
  left join {schema}.job_definition d on d.key = j.job_type
  left join {schema}.ready w on w.id = j.id
  left join {schema}.scheduled s on s.id = j.id
  left join {schema}.blocked b on b.id = j.id
  left join {schema}.running r on r.id = j.id
  left join {schema}.lease l on l.holder = r.holder
  left join {schema}.worker k on k.holder = r.holder
  left join {schema}.dead_letter x on x.id = j.id
  left join {schema}.outcome o on o.job_id = j.id;

-- attempt_no counts executions. Seed 3's list of statuses is closed: a lost attempt shows as failed, a snoozed or
-- interrupted one as canceled, with the reason in error_text.
create view {schema}.job_attempts as
select md5(h.job_id::text || ':' || h.run)::uuid as id, h.job_id, h.run as attempt_no,
       coalesce(w.worker_id, h.holder::text) as worker_id, coalesce(h.pid, w.pid) as pid, h.started_at, h.finished_at,
       h.exit_code,
       case h.status when 'lost' then 'failed' when 'snoozed' then 'canceled' when 'interrupted' then 'canceled'
                     else h.status end as status,
       h.stdout_tail, h.stderr_tail,
       coalesce(h.error_message, case when h.status in ('lost', 'snoozed', 'interrupted') then h.status end) as error_text
  from (select a.job_id, a.run, a.holder, a.pid, a.started_at, a.finished_at, a.exit_code, a.status, a.stdout_tail,
               a.stderr_tail, a.error_message
          from {schema}.attempt a
        union all
        select o.job_id, o.run, o.holder, o.pid, o.started_at, o.finished_at, o.exit_code, o.attempt_status,
               o.stdout_tail, o.stderr_tail, o.error_message
          from {schema}.outcome o where o.holder is not null
        union all
        select r.id, r.run, r.holder, null, r.claimed_at, null, null, 'running', null, null, null
          from {schema}.running r) h
  left join {schema}.worker w on w.holder = h.holder;

create view {schema}.job_workers as
select w.worker_id, w.hostname, w.version, w.queues, w.last_seen_at, w.running_count,
       w.metadata || jsonb_build_object('pid', w.pid, 'slots', w.slots, 'started_at', w.started_at,
                                        'stopped_at', w.stopped_at, 'draining', w.draining) as metadata
  from {schema}.worker w;

create view {schema}.job_definitions as
select d.id, d.key, d.description, d.arg_schema, d.timeout_seconds, d.max_attempts, d.is_active, d.created_at, d.updated_at
  from {schema}.job_definition d;

-- Where jobs are now, to the letter of the life cycle: scheduled, queued, blocked, running or their end. Each look-up
-- is fenced (offset 0): with old statistics a join hashed half a million outcomes for one id (180 ms).
create function {schema}.job_state(p_ids uuid[])
returns table (
    id uuid, job_type text, queue text, tenant_id uuid, project_id uuid, state text, priority integer, attempt integer,
    max_attempts integer, payload jsonb, idempotency_key text, created_at timestamptz, scheduled_for timestamptz,
    started_at timestamptz, finished_at timestamptz, worker_id text, reason text, error_class text, error_code text,
    error_message text, result jsonb, replayed_from uuid, replayed_as uuid, progress_done double precision,
    progress_total double precision, progress_message text, cancel_requested boolean, actor_type text, actor_id text,
    request_id text, correlation_id text, traceparent text, source text, source_ref text, tags text[])
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select j.id, j.job_type, coalesce(w.queue, s.queue, b.queue, r.queue, x.queue, j.queue), j.tenant_id, j.project_id,
           case when s.id is not null then 'scheduled' when w.id is not null then 'queued'
                when b.id is not null then 'blocked' when r.id is not null then 'running'
                when x.id is not null then 'dead_letter' else o.status end,
           coalesce(w.priority, s.priority, b.priority, r.priority, x.priority, j.priority),
           coalesce(w.attempt, s.attempt, b.attempt, r.attempt, x.attempts, o.attempt), j.max_attempts, j.payload,
           j.idempotency_key, j.created_at, coalesce(s.run_at, j.scheduled_for),
           coalesce(r.claimed_at, o.started_at, x.last_attempt_at, case when o.status = 'dead_letter' then a.started_at end),
           coalesce(case when o.status = 'dead_letter' then a.finished_at end, o.finished_at, x.failed_at),
           (select k.worker_id from {schema}.worker k where k.holder = coalesce(r.holder, o.holder)),
           coalesce(x.reason, o.reason), coalesce(x.error_class, o.error_class, a.error_class),
           coalesce(x.error_code, o.error_code, a.error_code),
           coalesce(x.error_message, o.error_message, a.error_message), o.result, j.replayed_from,
           (select n.id from (select f.id from {schema}.any_job f where f.replayed_from = j.id offset 0) n
             order by n.id desc limit 1),
           g.done, g.total, g.message, c.job_id is not null, j.actor_type::text, j.actor_id, j.request_id, j.correlation_id,
           j.traceparent, j.source::text, j.source_ref, array(select t.tag from {schema}.job_tag t where t.job_id = j.id order by t.tag)
      from unnest(p_ids) as u(id)
     cross join lateral (select f.* from {schema}.any_job f where f.id = u.id offset 0) j
      left join lateral (select t.* from {schema}.ready t where t.id = u.id offset 0) w on true
      left join lateral (select t.* from {schema}.scheduled t where t.id = u.id offset 0) s on true
      left join lateral (select t.* from {schema}.blocked t where t.id = u.id offset 0) b on true
      left join lateral (select t.* from {schema}.running t where t.id = u.id offset 0) r on true
      left join lateral (select t.* from {schema}.dead_letter t where t.id = u.id offset 0) x on true
      left join lateral (select t.* from {schema}.outcome t where t.job_id = u.id offset 0) o on true
      left join lateral (select t.* from {schema}.progress t where t.job_id = r.id offset 0) g on true
      left join lateral (select t.* from {schema}.cancel_request t where t.job_id = u.id offset 0) c on true
      left join lateral (select t.error_class, t.error_code, t.error_message, t.started_at, t.finished_at
                           from {schema}.attempt t
                          where t.job_id = u.id and (o.job_id is null or o.status = 'dead_letter')
                          order by t.run desc limit 1) a on true;
end
$$;
