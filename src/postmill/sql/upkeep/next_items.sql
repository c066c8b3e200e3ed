select i.n, i.job_id, i.tenant_id, i.job_type, i.payload::text from {schema}.next_items($1::uuid, $2::integer) i
