-- $1 seconds ago, $2 at most. Triggers and API keys by their names.
select c.at, c.kind, c.target, coalesce(k.name, c.actor), c.via, c.reason, c.ref, t.label
  from {schema}.read_changes((select {schema}.now()) - $1::float8 * interval '1 second', $2::integer) c
  left join {schema}.job_triggers t on c.kind like 'triggers.%' and t.id::text = c.target
  left join {schema}.read_keys(null, 1000, null, false) k on k.id::text = c.actor
 order by c.at desc, c.kind, c.ref
