select l.id, l.at, l.actor_type, l.actor_id, l.role, l.via, l.action, l.result, l.reason, l.before::text, l.after::text
  from {schema}.read_object_log($1::text, $2::text, $3::integer) l
