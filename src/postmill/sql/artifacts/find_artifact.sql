-- Of one tenant: by its id, or a job's own by its name.
select a.id, a.tenant_id, a.job_id, a.name, a.content_type, a.size, encode(a.sha256, 'hex'), a.attempt, a.created_at,
       a.expires_at, a.expires_at <= (select {schema}.now())
  from {schema}.artifact a
 where a.tenant_id = $1::uuid and (a.id = $3::uuid or (a.job_id = $2::uuid and a.name = $4::text))
   and (a.gone_at is null or a.expires_at <= (select {schema}.now()))
 order by a.gone_at nulls first, a.id desc limit 1
