update feed_items
   set ai_tags = %(tags)s, ai_tagged = true, ai_not_before = null, ai_error = null
 where id = %(id)s and not ai_tagged
returning id
