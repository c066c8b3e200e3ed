-- A batch, the longest untagged first. Nobody else takes these for a quarter of an hour, which no batch needs.
update feed_items i
   set ai_not_before = (select postmill.now()) + interval '15 minutes'
  from (select f.id
          from feed_items f
         where not f.ai_tagged
           and f.ai_failures < %(most_failures)s
           and (f.ai_not_before is null or f.ai_not_before <= (select postmill.now()))
         order by f.fetched_at, f.id
         limit %(size)s
           for update skip locked) taken
 where i.id = taken.id
returning i.id, i.fetched_at, i.title, i.description, i.content
