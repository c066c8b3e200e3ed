-- What went wrong and was told, since the demo began; on which channels, as far as it has arrived.
select i.id, i.kind, i.title, i.opened_at, i.resolved_at,
       array(select distinct n.channel from postmill.notification n where n.incident_id = i.id and n.status = 'sent') as told
  from postmill.incident i
 where i.opened_at >= %(since)s or i.resolved_at is null or i.resolved_at >= %(since)s
 order by i.opened_at, i.id
