select d.id, d.status from {schema}.door_discard_jobs($1::uuid[], $2::text, $3::text, $4::text) d
