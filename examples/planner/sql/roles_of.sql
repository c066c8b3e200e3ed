-- Of the whole organization, and of this project.
select role from planner.access
 where actor_type = %(actor_type)s and actor_id = %(actor_id)s
   and (project_id is null or project_id = %(project)s::uuid)
