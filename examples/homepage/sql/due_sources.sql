select id, name, url, last_fetched_at, refresh_interval_minutes
  from rss_sources
 where is_active
   and (%(force)s
        or (last_fetched_at is null
            or last_fetched_at + (refresh_interval_minutes || ' minutes')::interval < (select postmill.now()))
       and (retry_not_before is null or retry_not_before <= (select postmill.now())))
 order by last_fetched_at nulls first, id
