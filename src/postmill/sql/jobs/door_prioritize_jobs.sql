select p.id, p.status from {schema}.door_prioritize_jobs($1::uuid[], $2::integer, $3::text, $4::text, $5::text) p
