-- A page of entries, by id. which: missing (no embedding, whether it failed or was never asked for), stale (not of the present
-- text), all.
select id from yellow_book_entry
 where (%(after)s::uuid is null or id > %(after)s)
   and case %(which)s when 'missing' then embedding is null
                      when 'stale' then embedded_hash <> yellow_book_hash(text)
                      else true end
 order by id limit %(most)s
