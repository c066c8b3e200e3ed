-- All schedules from now on: that a demo did not run for a night is no outage that anybody should be told of.
update postmill.trigger set next_run_at = null where trigger_type = 'schedule' and deleted_at is null returning id
