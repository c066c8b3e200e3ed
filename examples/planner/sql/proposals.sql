select p.id, p.mission_id, m.title, p.collaborator_id, c.name, p.rank, p.score, p.reasons, p.accepted_at, p.artifact_id
  from planner.proposal p
  join planner.mission m on m.id = p.mission_id
  join planner.collaborator c on c.id = p.collaborator_id
 where p.project_id = %(project)s
   and p.job_id = (select l.job_id from planner.proposal l where l.project_id = %(project)s order by l.job_id desc limit 1)
 order by m.starts_at, m.id, p.rank
