select f.id, f.status from {schema}.find_tenant($1::text) f
