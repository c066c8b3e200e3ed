-- The largest tables, partitions together: rows and dead rows by the statistics, bytes of the table and its indexes, and what
-- their rows should take by the average width of their columns (NULL: never analyzed).
with wide as materialized (
    select s.tablename, sum(s.avg_width * (1 - s.null_frac)) as width from pg_stats s where s.schemaname = '{schema}' group by 1
), part as (
    select coalesce(i.inhparent, c.oid) as parent, c.oid, greatest(c.reltuples, 0)::bigint as rows, coalesce(s.n_dead_tup, 0) as dead,
           pg_relation_size(c.oid) as heap, pg_indexes_size(c.oid) as indexes,
           case when c.reltuples > 0 then c.reltuples * (28 + w.width) end as expected
      from pg_class c
      left join pg_inherits i on i.inhrelid = c.oid
      left join pg_stat_all_tables s on s.relid = c.oid
      left join wide w on w.tablename = c.relname
     where c.relnamespace = '{schema}'::regnamespace and c.relkind = 'r'
)
select p.parent::regclass::text as name, count(*)::integer as parts, sum(p.rows)::bigint as rows, sum(p.dead)::bigint as dead,
       sum(p.heap)::bigint as heap, sum(p.indexes)::bigint as indexes, sum(p.expected)::double precision as expected
  from part p
 group by p.parent
 order by sum(p.heap) + sum(p.indexes) desc, 1
 limit $1::integer
