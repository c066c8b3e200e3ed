select t.id, t.status from {schema}.door_tag_jobs($1::uuid[], $2::text[], $3::text[], $4::text, $5::text, $6::text) t
