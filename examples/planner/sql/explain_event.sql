update planner_audit.event set explanation = %(lines)s, explained_by = %(job_id)s where target = %(target)s
