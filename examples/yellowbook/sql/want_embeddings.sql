update yellow_book_entry set wanted_hash = yellow_book_hash(text), job_id = %(job_id)s where id = any(%(ids)s) returning id
