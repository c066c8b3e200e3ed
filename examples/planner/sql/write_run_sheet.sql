with sheet as (
    update planner.run_sheet set version = version + 1 where project_id = %(project)s returning id, org_id, version
)
insert into planner.run_sheet_version (run_sheet_id, version, org_id, title, items)
select id, version, org_id, %(title)s, %(items)s::jsonb from sheet
returning run_sheet_id as id, version
