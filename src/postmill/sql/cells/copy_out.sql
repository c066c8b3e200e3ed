select {schema}.copy_out($1::text, $2::uuid, $3::timestamptz, $4::timestamptz)
