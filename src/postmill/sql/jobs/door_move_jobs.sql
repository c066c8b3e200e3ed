select s.id, s.status from {schema}.door_move_jobs($1::uuid[], $2::text, $3::text, $4::text, $5::text) s
