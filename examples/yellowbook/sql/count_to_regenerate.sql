select count(*) as count from yellow_book_entry
 where case %(which)s when 'ids' then id = any(%(ids)s::uuid[])
                      when 'missing' then embedding is null
                      when 'stale' then embedded_hash <> yellow_book_hash(text)
                      else true end
