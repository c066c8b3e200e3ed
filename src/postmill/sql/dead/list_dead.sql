-- Open dead letters, the newest first, before ($1, $2). $3 tenant, $4 queue (read_letter_queues), $5 reason, $6 job type, $7 error group,
-- $8 HTTP status, $9 and $10 given up from and until, $11 page size.
select d.id, d.tenant_id, d.job_type, d.queue, d.reason, d.error_class, d.error_code, left(d.error_message, 500),
       d.error_status, d.attempts, d.failed_at, d.last_attempt_at, d.error_group,
       coalesce(q.dead_letters_as, d.queue), null, null, null, null
  from {schema}.dead_letter d
  left join {schema}.queue q on q.name = d.queue
 where (d.failed_at, d.id) < ($1::timestamptz, $2::uuid)
   and ($3::uuid is null or d.tenant_id = $3::uuid) and ($4::text is null or d.queue = any ((select {schema}.read_letter_queues($4::text))::text[]))
   and ($5::text is null or d.reason = $5::text) and ($6::text is null or d.job_type = $6::text)
   and ($7::text is null or d.error_group = $7::text) and ($8::integer is null or d.error_status = $8::integer)
   and ($9::timestamptz is null or d.failed_at >= $9::timestamptz)
   and ($10::timestamptz is null or d.failed_at < $10::timestamptz)
 order by d.failed_at desc, d.id desc limit $11::integer
