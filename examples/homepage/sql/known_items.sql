select item_guid, content_hash
  from feed_items
 where source_id = %(source_id)s and (item_guid = any(%(keys)s::text[]) or content_hash = any(%(hashes)s::text[]))
