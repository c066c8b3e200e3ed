-- The latest message that a portal's seller got and has not answered: who answers, to which masked address, and to what.
select m.id, s.email as seller, c.buyer_mask as mask, m.subject
  from mail_messages m
  join conversations c on c.id = m.conversation_id
  join marketplace_members s on s.id = m.recipient_id
 where s.email = 'ada@' || %(portal)s || '.example' and m.kind = 'inquiry' and m.status = 'sent'
   and not exists (select from mail_messages a where a.parent_id = m.id)
 order by m.sent_at desc limit 1
