-- Queues that are paused, and how long the first waiting job of each queue has waited.
select q.name, q.paused_at, q.paused_by, q.pause_reason, q.resume_at,
       q.paused_at is not null and (q.resume_at is null or q.resume_at > (select {schema}.now())) as paused,
       exists (select from {schema}.ready r where r.queue = q.name) as waiting
  from {schema}.queue q
 order by q.name
