select id, text, wanted_hash as hash from yellow_book_entry
 where id = any(%(ids)s) and wanted_hash = yellow_book_hash(text)
   and not coalesce(embedded_hash = wanted_hash and embedded_at > %(enqueued_at)s, false)
 order by id
