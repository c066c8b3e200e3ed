-- Where the items of one capture are, and what their jobs are at. Jobs are looked up, one by one, only for items
-- that are not ready: an item's becoming ready and its job's success are one commit.
select count(*) as captured,
       count(*) filter (where i.status = 'READY_TO_CONFIRM') as enriched,
       count(*) filter (where i.status = 'DISCARDED') as discarded,
       count(*) filter (where o.status = 'IN_PROGRESS') as running,
       count(*) filter (where o.status = 'PENDING' and o.attempt_count > 0) as retrying,
       count(*) filter (where o.status = 'FAILED') as failed,
       count(*) filter (where o.status is null or o.status in ('DONE', 'FAILED')) as ended,
       coalesce(extract(epoch from min(o.run_at) filter (where o.status = 'PENDING' and o.attempt_count > 0)
                                   - postmill.now()), 0)::float8 as next_retry
  from items i
  left join lateral (select v.status, v.attempt_count, v.run_at
                       from enrichment_outbox v where v.id = i.job_id offset 0) o on i.status <> 'READY_TO_CONFIRM'
 where i.capture_id = %(capture_id)s;
