insert into inbound_mail (mailbox, uid_validity, uid, digest, disposition, message_id, size, raw)
values (%(mailbox)s, %(uid_validity)s, %(uid)s, %(digest)s, %(disposition)s, %(message_id)s, %(size)s, %(raw)s)
returning id
