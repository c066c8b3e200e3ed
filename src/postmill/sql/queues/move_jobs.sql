select m.moved, m.looked_at from {schema}.door_move_jobs($1::text, $2::text, $3::uuid, $4::integer, $5::text, $6::text) m
