select id, project_id, actor_type, actor_id, request_id, correlation_id, action, target, details, happened_at, explanation, explained_by
  from planner_audit.event order by happened_at desc, id desc limit 200
