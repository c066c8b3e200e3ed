select mission_id from planner.assignment where project_id = %(project)s limit 1
