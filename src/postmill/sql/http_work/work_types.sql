select key, kind, version, queue, arg_schema, argv_template, env_allow, timeout_seconds, max_attempts, retry, on_exhausted,
       keep, worker_limit, aliases, strict_envelope, secrets, secret_keys, encrypted, log_fields, budget, edited
  from {schema}.door_work_types($1::text[])
