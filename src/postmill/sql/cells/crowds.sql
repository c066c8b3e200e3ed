-- Tenants of the directory by cell, and those that are on their way from or to it.
with moves as materialized (
    select m.from_cell, m.to_cell from {schema}.tenant_move m where m.status in ('running', 'aborting')
)
select c.cell, sum(c.tenants)::bigint, sum(c.leaving)::bigint, sum(c.arriving)::bigint
  from (select t.cell, count(*) as tenants, 0 as leaving, 0 as arriving from {schema}.cell_tenant t group by t.cell
        union all select m.from_cell, 0, 1, 0 from moves m
        union all select m.to_cell, 0, 0, 1 from moves m) c
 group by c.cell order by c.cell
