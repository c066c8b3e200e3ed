select count(*) as "answers passed on"
  from mail_messages m
  join conversations c on c.id = m.conversation_id
  join marketplace_listings l on l.id = c.listing_id
  join marketplace_members s on s.id = l.seller_id
 where s.email = 'ada@' || %(portal)s || '.example' and m.kind = 'reply' and m.created_at >= %(since)s
