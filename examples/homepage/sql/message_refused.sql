-- A bounce may come after it was sent; of several only the first has a row to tell of.
update mail_messages m
   set status = 'refused', refused_reason = %(reason)s, sending_job = null, sending_until = null
 where m.id = %(id)s and m.status <> 'refused'
   and (%(conversation_id)s::uuid is null or m.conversation_id = %(conversation_id)s)
returning m.id, m.conversation_id, m.subject,
          (select case m.sender when 'buyer' then c.buyer_id when 'seller' then l.seller_id end
             from conversations c join marketplace_listings l on l.id = c.listing_id
            where c.id = m.conversation_id) as sender_id
