insert into yellow_book_entry (name, description, categories, city, phone)
values (%(name)s, %(description)s, %(categories)s, %(city)s, %(phone)s)
returning id, text, yellow_book_hash(text) as hash, postmill.now() as moment
