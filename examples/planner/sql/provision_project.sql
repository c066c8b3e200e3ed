-- Once: a further run finds what the first has made.
with sheet as (
    insert into planner.run_sheet (org_id, project_id) values (%(org)s, %(project)s)
    on conflict (org_id, project_id) do nothing returning id
), first as (
    insert into planner.run_sheet_version (run_sheet_id, version, org_id, title, items)
    select id, 1, %(org)s, 'Run sheet', '[]' from sheet
)
update planner.project set ready_at = coalesce(ready_at, postmill.now()) where id = %(project)s returning ready_at
