-- The share of the server's notification queue that is in use; above a half Postmill stops ringing.
select pg_notification_queue_usage() as used
