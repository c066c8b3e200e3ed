select v.version, v.at, v.actor_type, v.actor_id, v.via, v.definition::text
  from {schema}.read_definition_versions($1::uuid, $2::integer, $3::integer) v
