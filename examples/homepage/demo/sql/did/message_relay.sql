select count(*) as mails, count(*) filter (where m.sender is not null) as masked
  from mail_messages m join marketplace_members r on r.id = m.recipient_id
 where m.sent_at >= %(since)s and r.email like '%%@' || %(portal)s || '.example'
