-- Attempts that did not succeed, by what went wrong, and what became of their items.
with tries as (
    select i.id, i.status as item_status, a.status as ended, coalesce(a.error_text, a.status) as error_text, a.finished_at,
           lead(a.started_at) over (partition by a.job_id order by a.attempt_no) as next_start
      from items i join postmill.job_attempts a on a.job_id = i.job_id
     where i.capture_id = %(capture_id)s
)
select t.error_text as error, count(*) as attempts, count(distinct t.id) as items,
       count(distinct t.id) filter (where t.item_status in ('READY_TO_CONFIRM', 'DISCARDED')) as recovered,
       coalesce(extract(epoch from min(t.next_start - t.finished_at)), 0)::float8 as shortest_wait,
       coalesce(extract(epoch from max(t.next_start - t.finished_at)), 0)::float8 as longest_wait
  from tries t
 where t.ended not in ('succeeded', 'running')
 group by 1 order by 2 desc, 1;
