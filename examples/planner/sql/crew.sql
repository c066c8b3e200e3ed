select distinct collaborator_id from planner.assignment where project_id = %(project)s order by 1
