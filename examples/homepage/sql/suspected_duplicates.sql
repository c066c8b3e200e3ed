-- Items of a source that have the same text and different guids: its guids are not stable.
select s.id as source_id, s.name, i.content_hash, count(*) as items, min(i.title) as title,
       array_agg(i.item_guid order by i.fetched_at, i.item_guid) as guids
  from feed_items i
  join rss_sources s on s.id = i.source_id
 group by s.id, s.name, i.content_hash
having count(*) > 1
 order by count(*) desc, s.name, i.content_hash
 limit 100
