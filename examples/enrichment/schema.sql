-- The application's own tables. They live beside Postmill's schema in the same database, so that an item and its
-- job can be written in one transaction. Applying this file again changes nothing.

create table if not exists items (
    id uuid primary key default gen_random_uuid(),
    status text not null default 'CAPTURED'
        check (status in ('CAPTURED', 'ENRICHING', 'READY_TO_CONFIRM', 'DISCARDED')),
    capture_id uuid not null,          -- the batch in which it came
    source text not null,              -- where it was found, for people
    body text not null,
    job_id uuid,                       -- the job that was enqueued with it
    language text,
    title text,
    key_phrases text[],
    summary text,
    captured_at timestamptz not null default now(),
    enriched_at timestamptz,
    check (status not in ('ENRICHING', 'READY_TO_CONFIRM') or job_id is not null),
    check (status <> 'READY_TO_CONFIRM'
           or (language is not null and title is not null and key_phrases is not null and summary is not null))
);
create index if not exists items_capture on items (capture_id, status);

-- The outbox in the words of its design: one row per job, PENDING → IN_PROGRESS → DONE | FAILED. attempt_count
-- counts failures, as the old worker did, so a job that runs for the first time has 0. claimed_at is the old column
-- and locked_at the new one of the same meaning; the lock's three columns are filled while somebody holds it.
create or replace view enrichment_outbox as
select j.id,
       (j.payload ->> 'item_id')::uuid as item_id,
       case j.status when 'queued' then 'PENDING'
                     when 'running' then 'IN_PROGRESS'
                     when 'succeeded' then 'DONE'
                     else 'FAILED' end as status,
       j.attempt_count - case when j.status in ('running', 'succeeded') then 1 else 0 end as attempt_count,
       j.started_at as claimed_at,
       j.job_type,
       j.scheduled_for as run_at,
       case when j.status = 'running' then j.claimed_by_worker end as locked_by,
       case when j.status = 'running' then j.started_at end as locked_at,
       j.lease_expires_at,
       left(coalesce(e.error_code, 'HTTP_' || e.error_status, e.error_class), 50) as last_error_code,
       e.error_message as last_error_message,
       j.queued_at as created_at
  from postmill.jobs j
  left join lateral (
        select d.run, d.error_code, d.error_status, d.error_class, d.error_message
          from postmill.dead_letter d where d.id = j.id
        union all
        select o.run, o.error_code, o.error_status, o.error_class, o.error_message
          from postmill.outcome o where o.job_id = j.id and o.error_class is not null
        union all
        select a.run, a.error_code, a.error_status, a.error_class, a.error_message
          from postmill.attempt a where a.job_id = j.id and a.error_class is not null
        order by run desc limit 1) e on true
 where j.job_type = 'enrichment';
