-- What a worker follows: every command that may run, and of its own types what an operator may have changed.
select d.key, d.kind, d.version, d.queue, d.arg_schema::text, d.argv_template::text, d.env_allow, d.timeout_seconds,
       d.max_attempts, d.retry::text, d.on_exhausted, d.keep, d.worker_limit, d.aliases, d.strict_envelope, d.secrets,
       d.secret_keys, d.encrypted, d.log_fields, d.budget, d.edited
  from {schema}.job_definition d
 where (d.kind = 'command' and d.is_active) or d.key = any ($1::text[])
 order by d.key
