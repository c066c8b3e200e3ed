select count(*) filter (where l.expired_at >= %(since)s) as expired, count(r.created_at) as reminded
  from marketplace_listings l
  join marketplace_members s on s.id = l.seller_id
  left join listing_reminders r on r.listing_id = l.id and r.term = l.term and r.created_at >= %(since)s
 where s.email = 'ada@' || %(portal)s || '.example'
