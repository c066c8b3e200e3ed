select queue, from_queue, job_id, job_type, project_id, actor_id, request_id, attempts, reason, error_class, error_message, failed_at
  from planner.deadletter order by failed_at desc, job_id limit 200
