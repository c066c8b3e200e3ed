select {schema}.door_switch_archive($1::boolean, $2::text, $3::text, $4::text)
