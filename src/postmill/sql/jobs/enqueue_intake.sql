select e.n, e.id, e.status, e.detail from {schema}.enqueue_intake($1::uuid) e
