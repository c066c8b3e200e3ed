select count(distinct i.id) as pictures, count(z.image_id) as sizes
  from listing_images i
  join marketplace_listings l on l.id = i.listing_id
  join marketplace_members s on s.id = l.seller_id
  left join listing_image_sizes z on z.image_id = i.id
 where s.email = 'ada@' || %(portal)s || '.example' and i.processed_at >= %(since)s
