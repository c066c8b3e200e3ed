select m.id, m.status from {schema}.door_move_waiting($1::uuid[], $2::text, $3::text, $4::text, $5::text) m
