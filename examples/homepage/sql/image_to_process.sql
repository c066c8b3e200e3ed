select id, status, checksum from listing_images where id = %(id)s
