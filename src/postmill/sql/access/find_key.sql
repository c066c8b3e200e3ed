-- A live API key by its hash; notes its use at most once a minute.
select f.id, f.name, f.tenant_id, f.role, f.tenant_status from {schema}.find_key($1::bytea) f
