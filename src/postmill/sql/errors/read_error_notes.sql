select n.at, n.actor_type, n.actor_id, n.text from {schema}.read_error_notes($1::text) n
