select place, tenant_id::text, job_id::text, fields from {schema}.unit_page($1::uuid, $2::bigint, $3::integer)
