update listing_images
   set status = 'refused', refused_reason = %(reason)s, processed_at = (select postmill.now())
 where id = %(id)s and status = 'waiting'
returning id
