select {schema}.door_pause_type($1::text, $2::text, $3::timestamptz, $4::text, $5::text)
