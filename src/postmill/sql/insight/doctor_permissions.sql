-- What this role may do: enqueue (an application), work (a worker), operate (a person), migrate (the owner).
select n.nspname is not null and has_schema_privilege(n.oid, 'usage') as usage,
       coalesce((select bool_and(has_function_privilege(p.oid, 'execute')) from pg_proc p
                  where p.pronamespace = n.oid and p.proname in ('enqueue', 'enqueue_many')), false) as enqueue,
       coalesce((select bool_and(has_function_privilege(p.oid, 'execute')) from pg_proc p
                  where p.pronamespace = n.oid
                    and p.proname in ('claim', 'complete', 'put_back', 'open_session', 'renew', 'rescue')), false)
           -- One privilege at a time: a list of several asks for any of them.
           and coalesce((select bool_and(has_table_privilege(c.oid, p.name)) from pg_class c
                  cross join unnest(array['select', 'insert', 'update', 'delete']) as p(name)
                  where c.relnamespace = n.oid and c.relname in ('ready', 'running', 'scheduled', 'lease')), false) as work,
       coalesce((select bool_and(has_function_privilege(p.oid, 'execute')) from pg_proc p
                  where p.pronamespace = n.oid
                    and p.proname in ('cancel_jobs', 'retry_jobs', 'replay_jobs', 'pause_queue')), false) as operate,
       has_schema_privilege(n.oid, 'create') and pg_has_role(n.nspowner, 'usage') as migrate,
       pg_has_role('pg_read_all_stats', 'usage') as sees_all
  from pg_namespace n
 where n.nspname = '{schema}'
