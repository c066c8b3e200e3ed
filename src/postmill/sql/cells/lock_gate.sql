select g.stage from {schema}.tenant_gate g where g.tenant_id = $1::uuid and g.move_id = $2::uuid for update
