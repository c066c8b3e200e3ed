select status, told::text from {schema}.door_work_workflow($1::uuid, $2::uuid, $3::bigint)
