update social_accounts set renewing_until = null
 where id = %(id)s and version = %(version)s
returning id
