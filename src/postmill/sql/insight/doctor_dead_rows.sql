-- Dead rows that vacuum has not removed yet in the tables that turn over.
select s.relname::text as name, s.n_live_tup as live, s.n_dead_tup as dead,
       greatest(s.last_vacuum, s.last_autovacuum) as vacuumed_at, pg_total_relation_size(s.relid) as bytes
  from pg_stat_all_tables s
 where s.schemaname = '{schema}'
   and s.relname in ('ready', 'scheduled', 'running', 'lease', 'sleeper', 'idempotency_key', 'dead_letter')
 order by s.n_dead_tup desc, s.relname
