-- The tenants of this cell by id, and what a move holds of them.
select t.id::text as id, t.slug, g.stage, g.cell from {schema}.tenant t left join {schema}.tenant_gate g on g.tenant_id = t.id
 where t.id <> '00000000-0000-0000-0000-000000000001' order by t.id
