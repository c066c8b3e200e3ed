-- Partitions of each table: how many there are, and how many begin only in the future.
select h.parent, (count(p.name) filter (where not p.thin))::integer as live,
       (count(p.name) filter (where p.since > (select {schema}.now())))::integer as ahead,
       coalesce(bool_or(p.since <= (select {schema}.now()) and p.until > (select {schema}.now())), false) as current,
       max(p.until) as until
  from unnest(array['job', 'attempt', 'outcome']) as h(parent)
  left join {schema}.partition p on p.parent = h.parent
 group by h.parent
 order by h.parent
