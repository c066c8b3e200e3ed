-- A picture of a listing.
insert into listing_images (id, listing_id, bytes, checksum)
values (%(id)s::uuid, %(listing)s::uuid, %(bytes)s, %(checksum)s)
returning id::text
