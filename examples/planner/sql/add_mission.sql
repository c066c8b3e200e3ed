insert into planner.mission (org_id, project_id, title, skill, starts_at, ends_at)
values (%(org)s, %(project)s, %(title)s, %(skill)s, %(starts_at)s, %(ends_at)s) returning id
