select v.id, v.name, v.query, v.shared, v.own, v.actor_id from {schema}.read_saved_views($1::text) v
