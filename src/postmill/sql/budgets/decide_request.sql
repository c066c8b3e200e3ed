select {schema}.door_decide_request($1::uuid, $2::boolean, $3::text, $4::text, $5::text)
