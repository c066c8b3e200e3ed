-- What is answered: the newest that the mail names; else the newest of all.
select id, subject
  from mail_messages
 where conversation_id = %(conversation_id)s and kind <> 'notice'
 order by (id = any(%(ids)s) or coalesce(original_message_id = any(%(originals)s), false)) desc, created_at desc
 limit 1
