-- What was enriched last.
select i.language, i.title, i.source
  from items i
 where i.capture_id = %(capture_id)s and i.enriched_at is not null
 order by i.enriched_at desc limit 6;
