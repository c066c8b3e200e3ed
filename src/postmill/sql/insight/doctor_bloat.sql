-- What the tables that turn over take, indexes and all, beside the rows that live in them. By the statistics of vacuum.
select s.relname::text as name, s.n_live_tup as live, pg_relation_size(s.relid) as heap, pg_indexes_size(s.relid) as indexes
  from pg_stat_all_tables s
 where s.schemaname = '{schema}'
   and s.relname in ('ready', 'scheduled', 'blocked', 'running', 'lease', 'sleeper', 'idempotency_key', 'dead_letter', 'intake')
 order by pg_total_relation_size(s.relid) desc, s.relname
