-- Two who read one mailbox meet at this row: the second waits, and finds the message taken.
update mailboxes
   set last_uid = %(uid)s
 where name = %(name)s and uid_validity = %(uid_validity)s and last_uid < %(uid)s
returning last_uid
