select id, queue, verdict, job_type, tenant_id, attempt, holder
  from {schema}.rescue($1::uuid, $2::float8, $3::float8, $4::integer)
