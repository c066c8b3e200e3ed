-- The attempts of the item that needed most of them, in seconds after its capture.
with tried as (
    select i.id from items i join postmill.job_attempts a on a.job_id = i.job_id
     where i.capture_id = %(capture_id)s and i.status = 'READY_TO_CONFIRM'
     group by i.id having count(*) > 1 order by count(*) desc, i.id limit 1
)
select i.title, a.attempt_no, a.status, a.error_text, a.worker_id,
       extract(epoch from a.started_at - i.captured_at)::float8 as started,
       extract(epoch from a.finished_at - i.captured_at)::float8 as finished
  from tried t join items i on i.id = t.id join postmill.job_attempts a on a.job_id = i.job_id
 order by a.attempt_no;
