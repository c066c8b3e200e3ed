-- Is there anything to do: an operation that runs, or jobs whose type is paused no longer?
select exists (select from {schema}.operation o
                where o.status = 'running' and (o.stage = 'select' or o.start_at is null or o.start_at <= (select {schema}.now())))
    or exists (select from {schema}.type_pause p where p.ended_at is not null and p.released_at is null)
