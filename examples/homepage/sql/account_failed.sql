update social_accounts set last_error = %(error)s where id = %(id)s
returning id
