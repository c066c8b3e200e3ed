-- How a channel stands: seconds until it may be used, failures in a row, whether it works, how much is due (1,000 at most),
-- and for how many seconds the first has been.
select greatest(0, extract(epoch from s.next_at - m.moment))::double precision, coalesce(s.failures, 0), s.failing_since is not null,
       d.n, extract(epoch from m.moment - d.first)::double precision
  from (select (select {schema}.now()) as moment) m
  left join {schema}.channel_state s on s.channel = $1::text
 cross join (select count(*) as n, min(x.due_at) as first
               from (select n.due_at from {schema}.notification n
                      where n.channel = $1::text and n.status = 'pending' and n.due_at <= (select {schema}.now())
                      order by n.due_at limit 1000) x) d
