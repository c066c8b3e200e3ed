-- What is wrong now and not over yet: how many, of which severity, since when the oldest, and how many nobody has taken.
select count(*) as n, count(*) filter (where i.severity = 'critical') as critical,
       count(*) filter (where i.acknowledged_at is null) as untaken,
       extract(epoch from (select {schema}.now()) - min(i.opened_at))::double precision as oldest_seconds,
       (array_agg(i.title order by i.opened_at))[1] as oldest
  from {schema}.incident i where i.resolved_at is null
