update planner.project set revision = revision + 1 where id = %(project)s and ready_at is not null returning revision
