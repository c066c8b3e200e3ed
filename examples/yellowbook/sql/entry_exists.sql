select id from yellow_book_entry where id = %(id)s
