-- A listing of this seller's, kept for the moment, so that uploads that come together are counted one after the other.
select status from marketplace_listings
 where id = %(id)s and seller_id = %(seller_id)s
   for update
