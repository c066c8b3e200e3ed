-- What a run of now could tag.
select count(*) as untagged
  from feed_items
 where not ai_tagged
   and ai_failures < %(most_failures)s
   and (ai_not_before is null or ai_not_before <= (select postmill.now()))
