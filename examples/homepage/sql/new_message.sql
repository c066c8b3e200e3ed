insert into mail_messages (conversation_id, sender, recipient_id, parent_id, kind, subject, body, left_out, original_message_id)
values (%(conversation_id)s, %(sender)s, %(recipient_id)s, %(parent_id)s, %(kind)s, %(subject)s, %(body)s, %(left_out)s,
        %(original_message_id)s)
on conflict (conversation_id, sender, original_message_id) where original_message_id is not null do nothing
returning id
