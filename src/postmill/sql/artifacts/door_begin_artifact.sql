select status, id, tenant_id from {schema}.door_begin_artifact($1::uuid, $2::uuid, $3::bigint)
