-- One change of a project's planning at a time; in a statement of its own, so that the next one sees what was waited for.
select id from planner.project where id = %(project)s for update
