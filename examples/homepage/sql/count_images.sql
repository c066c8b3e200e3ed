-- In a statement of its own: one that waits for a row goes on seeing all else as it was before.
select count(*) as images from listing_images where listing_id = %(id)s and status <> 'refused'
