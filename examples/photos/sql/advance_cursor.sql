-- Only from where the page was asked for: of two syncs of one folder each page counts for one of them.
update provider_cursors c
   set cursor = %(after)s,
       began_at = case when %(last)s then null when %(before)s::text is null then %(asked_at)s else c.began_at end
 where c.provider_id = %(provider_id)s and c.path_prefix = %(path_prefix)s and c.cursor is not distinct from %(before)s
