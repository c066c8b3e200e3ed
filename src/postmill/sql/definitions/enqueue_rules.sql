select r.name, r.key, r.kind, r.arg_schema, r.argv_template, r.asks_key, r.secrets, r.secret_keys, r.encrypted,
       r.version, r.queue
  from {schema}.read_enqueue_rules($1::text[]) r
