select q.name from {schema}.queue q
 where q.name = any ($1::text[]) and q.paused_at is not null
   and (q.resume_at is null or q.resume_at > (select {schema}.now()))
