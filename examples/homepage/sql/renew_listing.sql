update marketplace_listings
   set status = 'active',
       term = term + 1,
       expires_at = greatest(expires_at, (select postmill.now())) + %(days)s * interval '1 day',
       expired_at = null,
       updated_at = (select postmill.now())
 where id = %(id)s and status in ('active', 'expired')
returning term, expires_at
