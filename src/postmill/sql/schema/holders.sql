-- Whose open transactions hold locks on tables of the schema, the oldest first.
select a.pid, coalesce(nullif(a.application_name, ''), a.backend_type), a.state, a.xact_start::text
from pg_catalog.pg_stat_activity a
where a.pid <> pg_catalog.pg_backend_pid() and a.xact_start is not null
  and exists (select from pg_catalog.pg_locks l join pg_catalog.pg_class c on c.oid = l.relation
              where l.pid = a.pid and l.granted and l.locktype = 'relation'
                and c.relnamespace = pg_catalog.to_regnamespace('{schema}'))
order by a.xact_start
limit 3
