select {schema}.carry_off($1::text, $2::uuid, $3::uuid, $4::timestamptz, $5::timestamptz)
