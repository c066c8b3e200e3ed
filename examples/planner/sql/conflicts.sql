-- What cannot be as it is planned: two missions at once (of whatever project), a time that nobody has offered, a missing skill.
with planned as (
    select a.collaborator_id, c.name, c.skills, m.id, m.title, m.skill, m.starts_at, m.ends_at, a.project_id
      from planner.assignment a
      join planner.mission m on m.id = a.mission_id
      join planner.collaborator c on c.id = a.collaborator_id
)
select 'double-booked' as kind, p.id as mission_id, p.title, p.name, other.title as detail
  from planned p
  join planned other on other.collaborator_id = p.collaborator_id and other.id <> p.id
                    and other.starts_at < p.ends_at and other.ends_at > p.starts_at
 where p.project_id = %(project)s
union all
select 'not-available', p.id, p.title, p.name, null from planned p
 where p.project_id = %(project)s
   and exists (select from planner.availability v where v.collaborator_id = p.collaborator_id)
   and not exists (select from planner.availability v where v.collaborator_id = p.collaborator_id
                      and v.starts_at <= p.starts_at and v.ends_at >= p.ends_at)
union all
select 'skill-missing', p.id, p.title, p.name, p.skill from planned p
 where p.project_id = %(project)s and not p.skill = any(p.skills)
 order by 2, 1, 5
