-- Sealed payloads under other keys than $2, after the id $1, at most $3.
select j.id, j.tenant_id, j.job_type, j.payload::text
  from {schema}.any_job j
 where j.id > $1::uuid and j.payload ? '$encrypted' and j.payload #>> '{$encrypted,key}' is distinct from $2::text
 order by j.id
 limit $3::integer
