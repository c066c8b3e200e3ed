update inbound_mail set raw = null
 where id in (select id from inbound_mail
               where raw is not null and received_at < (select postmill.now()) - interval '30 days'
               limit 1000)
returning id
