-- To the minute: the scheduler comes every five, and a feed of fifteen would be asked every twenty for a second's sake.
update rss_sources
   set error_count = 0,
       last_error_message = null,
       last_fetched_at = date_trunc('minute', %(moment)s::timestamptz),
       retry_not_before = null,
       etag = %(etag)s,
       last_modified = %(last_modified)s,
       updated_at = (select postmill.now())
 where id = %(id)s
returning id
