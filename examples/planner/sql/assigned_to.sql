select a.collaborator_id, m.title, m.starts_at at time zone 'UTC' as starts_at
  from planner.assignment a join planner.mission m on m.id = a.mission_id
 where m.id = %(mission)s and m.project_id = %(project)s
