-- Missions in the order of time, from after the last one of the page before.
select m.id, m.title, m.skill, m.starts_at, m.ends_at, c.name
  from planner.mission m
  left join planner.assignment a on a.mission_id = m.id
  left join planner.collaborator c on c.id = a.collaborator_id
 where m.project_id = %(project)s
   and (%(after)s::uuid is null or (m.starts_at, m.id) > (%(after_time)s::timestamptz, %(after)s::uuid))
 order by m.starts_at, m.id limit %(most)s
