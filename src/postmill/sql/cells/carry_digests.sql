select {schema}.carry_digests($1::uuid, $2::timestamptz)
