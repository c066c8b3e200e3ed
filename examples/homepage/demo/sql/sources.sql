-- The feeds of one portal, at the stand-in's address. A start of the demo is a new stand-in at another one.
with named (name, path, category, minutes) as (
    values (%(portal)s || ': headlines', '/corpus/rss-2.0.xml', 'Breaking News', 15),
           (%(portal)s || ': papers', '/corpus/atom-1.0.xml', 'Analysis/Opinion', 360),
           (%(portal)s || ': latest', '/changing/growing', 'Tech News', 60),
           (%(portal)s || ': podcast', '/corpus/podcast.xml', 'Sports/Entertainment', 30)
), moved as (
    update rss_sources s
       set url = %(url)s || n.path || '?portal=' || %(portal)s, is_active = true, error_count = 0, retry_not_before = null,
           etag = null, last_modified = null
      from named n where s.name = n.name
    returning s.id, s.name
), made as (
    insert into rss_sources (name, url, category, refresh_interval_minutes)
    select n.name, %(url)s || n.path || '?portal=' || %(portal)s, n.category, n.minutes
      from named n where not exists (select from rss_sources s where s.name = n.name)
    returning id, name
)
select id::text, name from moved union all select id::text, name from made order by name
