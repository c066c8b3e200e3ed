-- Which cell holds a tenant, by id or slug; a page by slug where neither is named.
select c.tenant_id, c.slug, c.cell, c.changed_at, m.id, m.to_cell, m.step
  from {schema}.cell_tenant c
  left join {schema}.tenant_move m on m.tenant_id = c.tenant_id and m.status in ('running', 'aborting')
 where ($1::uuid is null or c.tenant_id = $1::uuid) and ($2::text is null or c.slug = $2::text)
   and ($3::text is null or c.cell = $3::text) and c.slug > $4::text
 order by c.slug limit $5::integer
