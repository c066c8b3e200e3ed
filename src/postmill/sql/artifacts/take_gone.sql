select id, tenant_id from {schema}.take_gone_artifacts($1::integer)
