select count(*) from planner.assignment where project_id = %(project)s
