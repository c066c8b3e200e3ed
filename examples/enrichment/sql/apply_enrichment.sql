-- The effect. It happens once: whoever comes second finds the item no longer ENRICHING and changes nothing.
update items
   set status = 'READY_TO_CONFIRM', language = %(language)s, title = %(title)s, key_phrases = %(key_phrases)s,
       summary = %(summary)s, enriched_at = now()
 where id = %(id)s and status = 'ENRICHING'
returning id;
