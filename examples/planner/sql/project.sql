select id, org_id, name, revision, ready_at, staffed, open, summed_revision from planner.project where id = %(project)s
