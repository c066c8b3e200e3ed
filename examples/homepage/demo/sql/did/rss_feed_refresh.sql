select count(*) as items, count(distinct i.source_id) as feeds
  from feed_items i join rss_sources s on s.id = i.source_id
 where starts_with(s.name, %(portal)s || ': ') and i.fetched_at >= %(since)s
