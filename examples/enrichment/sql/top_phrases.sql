-- The key phrases that most items have in common; of words that differ in case only, the first spelling is shown.
select min(p.phrase) as phrase, count(distinct i.id) as items
  from items i cross join lateral unnest(i.key_phrases) as p(phrase)
 where i.capture_id = %(capture_id)s
 group by lower(p.phrase)
 order by 2 desc, 1 limit 12;
