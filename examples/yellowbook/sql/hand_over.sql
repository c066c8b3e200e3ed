update yellow_book_entry e set job_id = u.job_id
  from unnest(%(ids)s::uuid[], %(job_ids)s::uuid[]) as u(id, job_id) where e.id = u.id returning e.id
