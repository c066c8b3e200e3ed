select c.cell, count(*) from {schema}.cell_tenant c group by c.cell order by c.cell
