-- Open dead letters, the newest first, before ($1, $2). $3 tenant, $4 queue, $5 reason, $6 job type, $7 page size.
select d.id, d.tenant_id, b.job_type, d.queue, d.reason, d.error_class, d.error_code, left(d.error_message, 500),
       d.error_status, d.attempts, d.failed_at, d.last_attempt_at, null, null
  from {schema}.dead_letter d
  left join lateral (select j.job_type from {schema}.any_job j where j.id = d.id offset 0) b on true
 where (d.failed_at, d.id) < ($1::timestamptz, $2::uuid)
   and ($3::uuid is null or d.tenant_id = $3::uuid) and ($4::text is null or d.queue = $4::text)
   and ($5::text is null or d.reason = $5::text) and ($6::text is null or b.job_type = $6::text)
 order by d.failed_at desc, d.id desc limit $7::integer
