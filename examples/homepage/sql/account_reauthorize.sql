update social_accounts
   set status = 'reauthorize', renewing_until = null, last_error = %(error)s
 where id = %(id)s and version = %(version)s
returning id
