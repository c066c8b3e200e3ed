select r.id, r.status, r.new_id from {schema}.door_retry_jobs($1::uuid[], $2::text, $3::text) r
