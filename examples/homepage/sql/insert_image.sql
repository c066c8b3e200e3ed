insert into listing_images (id, listing_id, bytes, checksum)
values (%(id)s, %(listing_id)s, %(bytes)s, %(checksum)s)
returning id
