update provider_cursors c set cursor = null, began_at = null
 where c.provider_id = %(provider_id)s and c.path_prefix = %(path_prefix)s and c.cursor = %(before)s
