select l.n, l.audit_id, l.hash, l.sealed from {schema}.read_audit_links($1::bigint, $2::integer) l
