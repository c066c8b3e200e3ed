select id, name, url, is_active, etag, last_modified, dedup_by, (select postmill.now()) as moment,
       (last_fetched_at is null
        or last_fetched_at + (refresh_interval_minutes || ' minutes')::interval < (select postmill.now()))
       and (retry_not_before is null or retry_not_before <= (select postmill.now())) as due
  from rss_sources
 where id = %(id)s
