update yellow_book_entry e
   set embedding = u.vector::vector, embedded_hash = u.hash, embedded_at = postmill.now()
  from unnest(%(ids)s::uuid[], %(hashes)s::text[], %(vectors)s::text[]) as u(id, hash, vector)
 where e.id = u.id and e.wanted_hash = u.hash
   and (e.embedding is null or e.embedded_hash <> u.hash or e.embedded_at < %(enqueued_at)s)
returning e.id
