-- No row where it was sent before. One that was begun and not ended is begun again: nobody knows what became of it.
insert into planner.delivery as d (org_id, recipient, template, payload_hash, schedule_bucket, job_id)
values (%(org)s, %(recipient)s, %(template)s, %(payload_hash)s, %(bucket)s, %(job_id)s)
on conflict (org_id, recipient, template, payload_hash, schedule_bucket) do update set job_id = excluded.job_id
 where d.sent_at is null
returning job_id
