-- Whoever sets the errors back to none takes their message away, and the wait that the server asked for.
update rss_sources
   set name = case when 'name' = any(%(given)s) then %(name)s else name end,
       url = case when 'url' = any(%(given)s) then %(url)s else url end,
       etag = case when 'url' = any(%(given)s) then null else etag end,
       last_modified = case when 'url' = any(%(given)s) then null else last_modified end,
       category = case when 'category' = any(%(given)s) then %(category)s else category end,
       refresh_interval_minutes = case when 'refresh_interval_minutes' = any(%(given)s)
                                       then %(refresh_interval_minutes)s else refresh_interval_minutes end,
       dedup_by = case when 'dedup_by' = any(%(given)s) then %(dedup_by)s else dedup_by end,
       is_active = case when 'is_active' = any(%(given)s) then %(is_active)s else is_active end,
       error_count = case when 'error_count' = any(%(given)s) then %(error_count)s else error_count end,
       last_error_message = case when 'error_count' = any(%(given)s) and %(error_count)s = 0
                                 then null else last_error_message end,
       retry_not_before = case when 'error_count' = any(%(given)s) and %(error_count)s = 0
                               then null else retry_not_before end,
       updated_at = (select postmill.now())
 where id = %(id)s
returning id
