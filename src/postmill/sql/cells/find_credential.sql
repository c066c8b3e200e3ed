select c.known, c.tenant from {schema}.find_credential($1::bytea) c
