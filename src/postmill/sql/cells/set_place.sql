-- Says where a tenant lives, whatever the directory said before, unless it moves just now or its slug is another's.
insert into {schema}.cell_tenant as c (tenant_id, slug, cell, changed_at)
select $1::uuid, $2::text, $3::text, {schema}.now()
 where not exists (select from {schema}.cell_tenant o where o.slug = $2::text and o.tenant_id <> $1::uuid)
   and not exists (select from {schema}.tenant_move m where m.tenant_id = $1::uuid and m.status in ('running', 'aborting'))
on conflict (tenant_id) do update set slug = excluded.slug, cell = excluded.cell, changed_at = excluded.changed_at
returning c.cell
