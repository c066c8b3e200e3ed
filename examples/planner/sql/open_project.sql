select planner.open_project(%(org)s, %(name)s) as id
