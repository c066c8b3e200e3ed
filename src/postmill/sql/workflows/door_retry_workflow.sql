select r.name, r.id, r.status, r.new_id from {schema}.door_retry_workflow($1::uuid, $2::boolean, $3::text, $4::text) r
