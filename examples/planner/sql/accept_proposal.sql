update planner.proposal p set accepted_at = postmill.now(), accepted_by = %(by)s
 where p.id = %(id)s and p.project_id = %(project)s and p.accepted_at is null
   and not exists (select from planner.assignment a where a.mission_id = p.mission_id)
returning p.mission_id, p.collaborator_id
