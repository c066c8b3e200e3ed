-- Notifications of which nobody has said yet when they are to be sent.
select n.id, n.channel, i.severity::text, (select {schema}.now())
  from {schema}.notification n join {schema}.incident i on i.id = n.incident_id
 where n.status = 'pending' and n.due_at is null
 order by n.id limit $1::integer
