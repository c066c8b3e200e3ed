update mail_messages
   set status = 'sent', sent_at = (select postmill.now()), sending_job = null, sending_until = null
 where id = %(id)s and status = 'waiting'
returning id
