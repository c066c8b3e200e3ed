-- For each open mission of a project who has the skill, is nowhere else at the time, and has not said to be away. Who has told
-- no availability at all may be asked.
select m.id as mission_id, m.skill, c.id as collaborator_id, c.name, told.any as available,
       (select count(*)::integer from planner.assignment a join planner.mission o on o.id = a.mission_id
         where a.collaborator_id = c.id and date_trunc('week', o.starts_at, 'UTC') = date_trunc('week', m.starts_at, 'UTC')) as that_week,
       exists (select from planner.assignment a where a.collaborator_id = c.id and a.project_id = m.project_id) as knows_project
  from planner.mission m
  join planner.collaborator c on c.org_id = m.org_id and m.skill = any(c.skills)
 cross join lateral (select exists (select from planner.availability v where v.collaborator_id = c.id) as any) told
 where m.project_id = %(project)s
   and not exists (select from planner.assignment a where a.mission_id = m.id)
   and not exists (select from planner.assignment a join planner.mission o on o.id = a.mission_id
                    where a.collaborator_id = c.id and o.starts_at < m.ends_at and o.ends_at > m.starts_at)
   and (not told.any or exists (select from planner.availability v where v.collaborator_id = c.id
                                   and v.starts_at <= m.starts_at and v.ends_at >= m.ends_at))
 order by m.starts_at, m.id, c.id
