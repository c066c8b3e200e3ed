select c.id,
       case when c.buyer_mask = %(mask)s then 'seller' else 'buyer' end as sender,
       case when c.buyer_mask = %(mask)s then s.email else b.email end as sender_email,
       case when c.buyer_mask = %(mask)s then s.id else b.id end as sender_id,
       case when c.buyer_mask = %(mask)s then b.id else s.id end as recipient_id
  from conversations c
  join marketplace_listings l on l.id = c.listing_id
  join marketplace_members b on b.id = c.buyer_id
  join marketplace_members s on s.id = l.seller_id
 where c.buyer_mask = %(mask)s or c.seller_mask = %(mask)s
