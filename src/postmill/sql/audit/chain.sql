select c.n, c.audit_id, c.hash from {schema}.audit_chain c where c.n > $1::bigint order by c.n limit $2::integer
