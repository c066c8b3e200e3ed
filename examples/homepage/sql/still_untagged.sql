select id from feed_items where id = %(id)s and not ai_tagged
