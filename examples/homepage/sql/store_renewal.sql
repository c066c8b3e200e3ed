update social_accounts
   set tokens = %(tokens)s, version = version + 1, renewing_until = null,
       expires_at = (select postmill.now()) + %(lifetime)s * interval '1 second'
 where id = %(id)s and version = %(version)s
returning version
