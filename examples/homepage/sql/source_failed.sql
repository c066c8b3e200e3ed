update rss_sources
   set error_count = error_count + 1,
       last_error_message = %(message)s,
       is_active = is_active and error_count + 1 < %(most_errors)s,
       retry_not_before = (select postmill.now()) + %(wait)s * interval '1 second',
       updated_at = (select postmill.now())
 where id = %(id)s
returning error_count, is_active
