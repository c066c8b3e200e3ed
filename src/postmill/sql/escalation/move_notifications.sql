select {schema}.move_notifications($1::text, $2::text, $3::uuid[])
