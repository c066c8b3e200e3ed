select d.tenant_id, d.n from {schema}.read_error_dead($1::text) d
