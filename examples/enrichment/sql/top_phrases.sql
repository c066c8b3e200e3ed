-- The key phrases of two words and more that most items have in common, in the spelling that is first by alphabet.
select min(p.phrase) as phrase, count(distinct i.id) as items
  from items i cross join lateral unnest(i.key_phrases) as p(phrase)
 where i.capture_id = %(capture_id)s and p.phrase like '%% %%'
 group by lower(p.phrase)
 order by 2 desc, 1 limit 12;
