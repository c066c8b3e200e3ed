select tenant_id, project_id, key from {schema}.sweep_keys($1::uuid, $2::uuid, $3::text, $4::integer)
