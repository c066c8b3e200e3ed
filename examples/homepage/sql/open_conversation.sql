insert into conversations (listing_id, buyer_id)
select id, %(buyer_id)s from marketplace_listings
 where id = %(listing_id)s and status = 'active' and seller_id <> %(buyer_id)s
   and exists (select from marketplace_members where id = %(buyer_id)s)
-- Changes nothing, and so gives the row that is there.
on conflict (listing_id, buyer_id) do update set buyer_id = excluded.buyer_id
returning id, (select seller_id from marketplace_listings where id = %(listing_id)s) as seller_id
