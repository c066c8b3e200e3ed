-- Sorted by the reason for which they failed, the latest first.
select id, job_id, job_type, payload, error, failed_at, attempts, last_attempt_at, reason
  from dlq_entry
 where %(reason)s::text is null or reason = %(reason)s
 order by reason, failed_at desc, id limit %(most)s
