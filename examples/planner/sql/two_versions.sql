-- A version and the one before it, in this order; only itself where it is the first.
select version, title, items from planner.run_sheet_version
 where run_sheet_id = %(run_sheet)s and version between %(version)s::integer - 1 and %(version)s order by version
