update mailboxes
   set tries = case when trying_uid = %(uid)s then tries + 1 else 1 end, trying_uid = %(uid)s
 where name = %(name)s and uid_validity = %(uid_validity)s
returning tries
