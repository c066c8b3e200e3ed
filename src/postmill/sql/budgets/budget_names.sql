select distinct b.name from {schema}.budget b where b.tenant_id = $1::uuid or b.tenant_id is null order by 1 limit 100
