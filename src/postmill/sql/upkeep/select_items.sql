select {schema}.select_items($1::uuid, $2::integer)
