select t.id, t.slug from {schema}.read_tenant_slugs($1::uuid[]) t
