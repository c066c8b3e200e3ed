select exists (select from {schema}.operation o where o.status = 'running')
