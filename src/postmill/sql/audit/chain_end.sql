-- The last link, or what was before the first one that is still to come.
select x.n, x.hash
  from ((select c.n, c.hash from {schema}.audit_chain c order by c.n desc limit 1)
        union all select s.n, s.hash from {schema}.audit_start s) x
 order by x.n desc limit 1
