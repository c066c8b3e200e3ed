select p.id, p.tenant_id, p.slug, p.name, p.created_at from {schema}.read_projects($1::uuid, $2::text, $3::integer) p
