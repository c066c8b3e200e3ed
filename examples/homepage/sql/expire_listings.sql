update marketplace_listings
   set status = 'expired', expired_at = (select postmill.now()), updated_at = (select postmill.now())
 where id in (select id from marketplace_listings
               where status = 'active' and expires_at <= (select postmill.now())
               order by expires_at
               limit %(most)s
                 for update skip locked)
returning id
