-- Sites of one portal, at the stand-in's address, to which also those move that an earlier run has left. One has been missing
-- twice, and once more will be too much.
with named (title, path) as (
    values (%(portal)s || ': town hall', '/good?town=' || %(portal)s),
           (%(portal)s || ': library', '/tall?library=' || %(portal)s),
           (%(portal)s || ': museum, elsewhere now', '/to?url=/good&museum=' || %(portal)s),
           (%(portal)s || ': a club that is no more', '/status/404?club=' || %(portal)s)
), moved as (
    update good_sites s
       set url = %(url)s || substring(s.url from '^https?://[^/]+(/.*)$'), host = %(host)s,
           failures = case when s.url like '%%/status/%%' then 2 else 0 end, status = 'live'
     where starts_with(s.title, %(portal)s || ': ')
    returning s.id, s.title
), made as (
    insert into good_sites (url, host, title, rank, failures, submitted_at)
    select %(url)s || n.path, %(host)s, n.title, 0, case when n.path like '/status/%%' then 2 else 0 end,
           (select postmill.now()) - interval '40 days'
      from named n where not exists (select from good_sites s where right(s.url, length(n.path)) = n.path)
    returning id, title
)
select id, title from moved union all select id, title from made
