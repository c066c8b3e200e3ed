select {schema}.door_delete_view($1::uuid, $2::boolean, $3::text, $4::text)
