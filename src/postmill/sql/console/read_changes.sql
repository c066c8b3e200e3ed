-- $1 seconds ago, $2 at most. Triggers and API keys by their names; each trigger by itself, as there are more of them than changes.
select c.at, c.kind, c.target, coalesce(k.name, c.actor), c.via, c.reason, c.ref,
       case when c.kind like 'triggers.%' and c.target ~ '^[0-9a-f-]{36}$' then
           (select t.label from {schema}.job_triggers t where t.id = c.target::uuid) end
  from {schema}.read_changes((select {schema}.now()) - $1::float8 * interval '1 second', $2::integer) c
  left join {schema}.read_keys(null, 1000, null, false) k on k.id::text = c.actor
 order by c.at desc, c.kind, c.ref
