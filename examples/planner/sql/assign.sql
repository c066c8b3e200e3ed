-- No row where mission or collaborator is not there. Somebody else's place is taken; one's own is left as it is.
insert into planner.assignment as a (mission_id, org_id, project_id, collaborator_id, assigned_by)
select m.id, %(org)s, m.project_id, c.id, %(by)s
  from planner.mission m, planner.collaborator c
 where m.id = %(mission)s and m.project_id = %(project)s and c.id = %(collaborator)s
on conflict (mission_id) do update
   set collaborator_id = excluded.collaborator_id,
       assigned_by = case when a.collaborator_id = excluded.collaborator_id then a.assigned_by else excluded.assigned_by end,
       assigned_at = case when a.collaborator_id = excluded.collaborator_id then a.assigned_at else postmill.now() end
returning mission_id as id, assigned_at, (select m.title from planner.mission m where m.id = a.mission_id) as title,
          (select m.starts_at at time zone 'UTC' from planner.mission m where m.id = a.mission_id) as starts_at
