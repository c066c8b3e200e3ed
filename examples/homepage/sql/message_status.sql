select status from mail_messages where id = %(id)s
