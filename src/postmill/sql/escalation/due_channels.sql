-- Of these channels those on which something is due and that may be used, or do not work: then it goes elsewhere.
select c.name from unnest($1::text[]) as c(name) left join {schema}.channel_state s on s.channel = c.name
 where exists (select from {schema}.notification n where n.channel = c.name and n.status = 'pending'
                  and n.due_at <= (select {schema}.now()))
   and (s.next_at is null or s.next_at <= (select {schema}.now()) or s.failing_since is not null)
