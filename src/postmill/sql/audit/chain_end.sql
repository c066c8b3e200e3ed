select c.n, c.hash from {schema}.audit_chain c order by c.n desc limit 1
