with image as (
    update listing_images
       set status = 'ready', width = %(width)s, height = %(height)s, processed_at = (select postmill.now())
     where id = %(id)s and status = 'waiting'
    returning id
)
insert into listing_image_sizes (image_id, width, height, bytes, checksum)
select image.id, s.width, s.height, s.bytes, s.checksum
  from image, jsonb_to_recordset(%(sizes)s) as s(width integer, height integer, bytes bigint, checksum text)
on conflict do nothing
returning width
