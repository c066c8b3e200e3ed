delete from {schema}.artifact a where a.id = any ($1::uuid[]) and a.gone_at is not null
