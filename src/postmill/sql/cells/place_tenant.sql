-- Enters a tenant into the directory, if its slug is free and it is in no other cell.
insert into {schema}.cell_tenant as c (tenant_id, slug, cell, changed_at)
select $1::uuid, $2::text, $3::text, {schema}.now()
 where not exists (select from {schema}.cell_tenant o where o.slug = $2::text and o.tenant_id <> $1::uuid)
on conflict (tenant_id) do update set slug = excluded.slug where c.cell = excluded.cell
returning c.cell
