-- `last` is null at the end.
with page as (
    select m.id, m.org_id, m.title, m.skill from planner.mission m where m.id > %(after)s order by m.id limit %(most)s
), written as (
    insert into planner.search_entry as s (mission_id, org_id, words)
    select id, org_id, to_tsvector('simple', title || ' ' || skill) from page
    on conflict (mission_id) do update set words = excluded.words
    returning 1
)
select (select count(*)::integer from written) as written,
       (select p.id from page p order by p.id desc limit 1) as last
