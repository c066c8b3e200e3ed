select {schema}.door_keep_answer($1::text, $2::bytea, $3::integer, $4::text, $5::text, $6::bytea)
