-- embedding: none (never asked for), pending, ready, failed (its job is a dead letter), stale (the text has changed since).
select e.id, e.name, e.description, e.categories, e.city, e.phone, e.created_at, e.updated_at, e.job_id, e.embedded_at,
       case when e.wanted_hash is null then 'none'
            when exists (select from postmill.dead_letter d where d.id = e.job_id) then 'failed'
            when e.embedded_hash is distinct from e.wanted_hash then 'pending'
            when e.embedded_hash <> yellow_book_hash(e.text) then 'stale'
            else 'ready' end as embedding
  from yellow_book_entry e where e.id = %(id)s
