select g.stage, g.cell, g.move_id, {schema}.now() from (select) o left join {schema}.tenant_gate g on g.tenant_id = $1::uuid
