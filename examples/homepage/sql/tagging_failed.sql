-- For the next hour, as its number of failures allows.
update feed_items
   set ai_failures = ai_failures + %(counts)s::boolean::int,
       ai_error = %(error)s,
       ai_not_before = date_trunc('hour', (select postmill.now())) + interval '1 hour'
 where id = %(id)s and not ai_tagged
returning ai_failures
