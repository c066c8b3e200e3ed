select c.source, c.actor_type, c.actor_id, c.n from {schema}.read_type_callers($1::text, $2::integer) c
