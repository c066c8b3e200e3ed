-- Channels on which something waits and that are none of these.
select distinct n.channel from {schema}.notification n
 where n.status = 'pending' and n.due_at <= (select {schema}.now()) and n.channel <> all ($1::text[])
