-- The wanted hash, and whether the text was embedded after the job was enqueued. No row: the business was deleted.
select wanted_hash = %(hash)s as wanted,
       embedded_hash = %(hash)s and embedded_at > %(enqueued_at)s as fresh
  from yellow_book_entry where id = %(id)s
