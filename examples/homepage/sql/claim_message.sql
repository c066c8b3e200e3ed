with claimed as (
    update mail_messages
       set sending_job = %(job)s, sending_until = (select postmill.now()) + %(seconds)s * interval '1 second'
     where id = %(id)s
       and status = 'waiting'
       and (sending_job is null or sending_job = %(job)s or sending_until <= (select postmill.now()))
    returning *
)
select m.id, m.conversation_id, m.sender, m.recipient_id, m.parent_id, m.kind, m.subject, m.body, m.left_out, m.created_at,
       r.email as recipient_email,
       case m.sender when 'buyer' then b.name when 'seller' then s.name end as sender_name,
       case m.recipient_id when b.id then 'buyer' when s.id then 'seller' end as recipient_side,
       case m.sender when 'buyer' then c.buyer_mask when 'seller' then c.seller_mask end as sender_mask,
       array_remove(array[b.email, s.email], null) as real_addresses
  from claimed m
  join marketplace_members r on r.id = m.recipient_id
  left join conversations c on c.id = m.conversation_id
  left join marketplace_listings l on l.id = c.listing_id
  left join marketplace_members b on b.id = c.buyer_id
  left join marketplace_members s on s.id = l.seller_id
