-- The listing of a portal's seller that is for sale for the longest.
select l.id::text
  from marketplace_listings l
  join marketplace_members s on s.id = l.seller_id
 where s.email = 'ada@' || %(portal)s || '.example' and l.status = 'active'
 order by l.expires_at desc, l.id limit 1
