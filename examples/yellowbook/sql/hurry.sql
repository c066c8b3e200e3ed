-- What waits for its next attempt is due now, as by `postmill jobs retry`.
select postmill.retry_jobs(array(
    select id from postmill.jobs where status = 'queued' and attempt_count > 0 and scheduled_for > postmill.now()))
