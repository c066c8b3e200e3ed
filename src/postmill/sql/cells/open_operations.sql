select o.id from {schema}.operation o where o.tenant_id = $1::uuid and o.ended_at is null limit 1
