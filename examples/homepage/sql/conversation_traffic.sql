select count(*) as messages
  from mail_messages
 where conversation_id = %(id)s and created_at > (select postmill.now()) - interval '1 hour'
