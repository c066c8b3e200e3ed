select id, name, url, category, refresh_interval_minutes, is_active, error_count, last_error_message, last_fetched_at,
       retry_not_before, dedup_by, updated_at
  from rss_sources
 where %(id)s::uuid is null or id = %(id)s
 order by name, id
