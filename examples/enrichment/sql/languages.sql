-- The languages of a capture, the most frequent first.
select i.language, count(*) as items
  from items i
 where i.capture_id = %(capture_id)s and i.language is not null
 group by 1 order by 2 desc, 1;
