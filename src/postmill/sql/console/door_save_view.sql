select v.id, v.status from {schema}.door_save_view($1::text, $2::text, $3::text, $4::boolean, $5::text, $6::text) v
