select m.ids, m.low from {schema}.read_matching($1::jsonb, $2::uuid, $3::integer, $4::integer) m
