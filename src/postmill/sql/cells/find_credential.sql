select c.found, c.tenant_id from {schema}.find_credential($1::bytea) c
