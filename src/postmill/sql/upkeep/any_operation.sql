select exists (select from {schema}.operation o
                where o.status = 'running' and (o.stage = 'select' or o.start_at is null or o.start_at <= (select {schema}.now())))
