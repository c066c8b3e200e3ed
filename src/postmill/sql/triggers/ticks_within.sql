select t.due from {schema}.read_ticks_within($1::uuid, $2::timestamptz, $3::timestamptz, $4::integer) t
