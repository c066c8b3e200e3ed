-- Where the directory says that tenants live; those that are on their way are looked at by the check of moves.
select c.tenant_id::text as id, c.slug, c.cell,
       exists (select from {schema}.tenant_move m where m.tenant_id = c.tenant_id and m.status in ('running', 'aborting')) as moves
  from {schema}.cell_tenant c order by c.tenant_id
