-- A new item. It stays CAPTURED only until its job is in the same transaction.
insert into items (capture_id, source, body)
values (%(capture_id)s, %(source)s, %(body)s)
returning id;
