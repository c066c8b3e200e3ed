update yellow_book_entry set wanted_hash = %(hash)s, job_id = %(job_id)s where id = %(id)s returning id
