select m.id as mission, c.id as ann
  from planner.mission m join planner.collaborator c on c.org_id = m.org_id and c.name = 'Ann'
 where m.project_id = %(project)s and m.title = 'Shift 1'
