select e.id, e.text, yellow_book_hash(e.text) as hash, postmill.now() as moment, d.id as dead_id
  from yellow_book_entry e left join dlq_entry d on d.id = e.job_id
 where e.id = %(id)s for update of e
