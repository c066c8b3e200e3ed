update feed_items set ai_not_before = null where id = any(%(ids)s) and not ai_tagged returning id
