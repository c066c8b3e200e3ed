select r.id, r.status, r.new_id from {schema}.retry_jobs($1::uuid[], $2::text, $3::text) r
