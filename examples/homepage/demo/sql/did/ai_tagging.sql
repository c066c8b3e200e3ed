select count(*) filter (where i.ai_tagged) as tagged, count(*) filter (where not i.ai_tagged) as "not yet"
  from feed_items i join rss_sources s on s.id = i.source_id
 where starts_with(s.name, %(portal)s || ': ')
