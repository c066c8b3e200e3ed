select distinct org_id from planner.project order by 1
