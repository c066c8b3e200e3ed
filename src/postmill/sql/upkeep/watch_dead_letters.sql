select w.key, w.verb, w.open from {schema}.watch_dead_letters($1::bigint, $2::text::jsonb, $3::text::jsonb) w
