select r.id, r.status, r.new_id from {schema}.door_retry_jobs($1::uuid[], $2::boolean, $3::text, $4::text) r
