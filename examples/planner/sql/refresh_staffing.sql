update planner.project p
   set staffed = c.staffed, open = c.open, summed_revision = %(revision)s
  from (select count(a.mission_id)::integer as staffed, (count(*) - count(a.mission_id))::integer as open
          from planner.mission m left join planner.assignment a on a.mission_id = m.id
         where m.project_id = %(project)s) c
 where p.id = %(project)s and coalesce(p.summed_revision, 0) <= %(revision)s
returning p.staffed, p.open
