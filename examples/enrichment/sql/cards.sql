-- A few items to read: of each kind of source one with a summary of middle length, other languages first.
select distinct on (split_part(i.source, ' ', 1) = 'man', i.language)
       i.language, i.title, i.summary, i.key_phrases, i.source
  from items i
 where i.capture_id = %(capture_id)s and i.status = 'READY_TO_CONFIRM'
   and length(i.summary) between 100 and 280 and length(i.title) > 12
 order by split_part(i.source, ' ', 1) = 'man', i.language, abs(length(i.summary) - 190), i.id;
