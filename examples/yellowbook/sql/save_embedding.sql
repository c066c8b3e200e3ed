-- Only if the text is still the wanted one and nobody has embedded it since. updated_at stays: nobody has edited anything.
update yellow_book_entry
   set embedding = %(vector)s::vector, embedded_hash = %(hash)s, embedded_at = postmill.now()
 where id = %(id)s and wanted_hash = %(hash)s
   and (embedding is null or embedded_hash <> %(hash)s or embedded_at < %(enqueued_at)s)
returning id
