select {schema}.door_mark_error($1::text, $2::text, $3::timestamptz, $4::integer, $5::text, $6::text, $7::text, $8::text)
