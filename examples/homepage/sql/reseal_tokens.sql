update social_accounts set tokens = %(tokens)s
 where id = %(id)s and version = %(version)s and tokens = %(before)s
returning id
