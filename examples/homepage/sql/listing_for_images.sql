-- A listing of this seller's, kept for the moment, so that uploads that come together are counted one after the other.
select l.status, (select count(*) from listing_images i where i.listing_id = l.id and i.status <> 'refused') as images
  from marketplace_listings l
 where l.id = %(id)s and l.seller_id = %(seller_id)s
   for update
