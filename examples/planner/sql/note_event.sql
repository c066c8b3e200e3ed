insert into planner_audit.event (org_id, project_id, actor_type, actor_id, request_id, correlation_id, action, target, details)
values (%(org)s, %(project)s, %(actor_type)s, %(actor_id)s, %(request_id)s, %(correlation_id)s, %(action)s, %(target)s, %(details)s)
