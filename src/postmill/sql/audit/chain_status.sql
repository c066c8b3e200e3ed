select c.first_n, c.first_hash, c.n, c.hash, c.sealed_at, c.noted_n, c.noted_hash, c.waiting from {schema}.read_audit_chain() c
