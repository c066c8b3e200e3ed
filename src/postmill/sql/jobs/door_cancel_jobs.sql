select c.id, c.status from {schema}.door_cancel_jobs($1::uuid[], $2::text, $3::text, $4::text) c
