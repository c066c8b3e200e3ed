select c.status, c.jobs from {schema}.door_cancel_workflow($1::uuid, $2::text, $3::text, $4::text) c
